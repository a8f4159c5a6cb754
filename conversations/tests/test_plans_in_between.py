"""What a message is begun as while its plan changes, and once the day's free budget is spent."""

from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import Settings

from accounts.models import User
from ai.inference.bounds import DEFAULT_OUTPUT_TOKENS
from ai.inference.errors import UpstreamFailed
from billing.errors import FreeBudgetSpent, InsufficientBalance
from billing.models import Charge, Subscription
from billing.tests import bank
from billing.types import FREE_OUTPUT_TOKENS
from conversations.models import Conversation, Message
from conversations.services import sending
from conversations.services.preparation import prepare_message
from conversations.services.sending import StartedReply
from conversations.tests import manual
from conversations.tests.rows import talk
from conversations.tests.speaker import BALANCE_ONLY, FREE_MODEL
from tests.personas import new_user

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def spent_budget(settings: Settings) -> Any:
    """The platform gives nothing away."""
    cache.clear()
    settings.FREE_DAILY_BUDGET_USD = 0
    yield
    cache.clear()


def begin_after_a_change(user: User, plan: str, model: str) -> StartedReply:
    """A message that was prepared before the user's plan became that one."""
    conversation = talk(user)
    prepared = prepare_message(user, conversation, content="Hi", model=model)
    Subscription.objects.filter(account=user).update(plan=plan)
    started = sending.start(
        prepared=prepared, request_key=None, owner_id=bank.live_owner(), request_id="req_test"
    )
    assert isinstance(started, StartedReply)
    return started


def test_after_a_downgrade_the_platform_pays_nothing_that_is_not_bounded() -> None:
    alice = new_user("alice", plan="max")
    with pytest.raises(InsufficientBalance):
        begin_after_a_change(alice, "free", FREE_MODEL)
    assert not Charge.objects.filter(account=alice).exists()


def test_after_a_downgrade_the_balance_pays() -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    started = begin_after_a_change(alice, "free", BALANCE_ONLY)
    charge = bank.charge_of(started.reply.pk)
    assert started.call.max_output_tokens == DEFAULT_OUTPUT_TOKENS
    assert (charge.funding, charge.hold_balance > 0) == ("customer", True)
    bank.release(started.reply.pk)


def test_after_an_upgrade_what_was_free_is_paid_and_stays_bounded() -> None:
    alice = new_user("alice", plan="free")
    started = begin_after_a_change(alice, "max", FREE_MODEL)
    assert started.call.max_output_tokens == FREE_OUTPUT_TOKENS
    assert bank.charge_of(started.reply.pk).funding == "customer"
    bank.release(started.reply.pk)


@pytest.mark.usefixtures("spent_budget")
def test_once_the_days_budget_is_spent_nothing_is_free_and_nothing_stays() -> None:
    alice = new_user("alice", plan="free", balance_usd=5)
    conversation = talk(alice)
    with pytest.raises(FreeBudgetSpent) as refusal:
        manual.begin(alice, conversation)
    assert refusal.value.status == 503
    assert not Message.objects.filter(conversation=conversation).exists()
    assert not Charge.objects.filter(account=alice).exists()
    assert Conversation.objects.get(pk=conversation.pk).messages_count == 0


@pytest.mark.usefixtures("spent_budget")
def test_who_pays_is_answered_all_the_same() -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    call = manual.begin(alice, talk(alice))
    assert bank.charge_of(call.id).funding == "customer"
    call.release(UpstreamFailed())
