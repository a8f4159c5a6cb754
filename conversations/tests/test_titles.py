"""A model names a conversation once, at the platform's cost, and never over its user's own name."""

import asyncio
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection
from pytest_django import Settings

from accounts.models import User
from ai.inference.runtime import get_runtime
from ai.providers import registry
from ai.providers.config import from_environ
from billing.models import Charge
from billing.tests import bank
from billing.types import Ending
from common.database import get_database
from conversations.models import Conversation
from conversations.services import titles
from conversations.services.conversations import delete_all
from conversations.services.messages import delete
from conversations.tests.manual import COST
from conversations.tests.rows import talk
from conversations.titles import make_title
from simulator.process import RunningSimulator
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url

QUESTION = "how deep is the sea?"
_Source = Conversation.TitleSource


@pytest.fixture(autouse=True)
def providers(settings: Settings, simulator: RunningSimulator) -> None:
    """This process calls the simulator in place of all providers but Mistral."""
    simulated = frozenset({"openai", "anthropic"})
    settings.PROVIDERS = from_environ({}, simulated=simulated, simulator_url=simulator.url)


@pytest.fixture
def alice(committed: None) -> User:
    return new_user("alice")


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return talk(alice, QUESTION, title=QUESTION)


def question_of(conversation: Conversation) -> UUID:
    assert conversation.leaf_id is not None
    return conversation.leaf_id


def _make(conversation: Conversation, message: str = QUESTION) -> str | None:
    """Have a title made, in an event loop as servers have one."""
    return asyncio.run(_served(conversation, message))


async def _served(
    conversation: Conversation, message: str, meanwhile: Callable[[], object] | None = None
) -> str | None:
    making = make_title(
        account_id=conversation.account_id,
        question_id=question_of(conversation),
        message=message,
        request_id="req-1",
    )
    try:
        if meanwhile is None:
            return await making
        title, _ = await asyncio.gather(making, asyncio.to_thread(meanwhile))
        return title
    finally:
        await get_runtime().close()
        await registry.aclose()
        await get_database().close()


def _steered(**options: object) -> str:
    """A message whose title is made as they say."""
    return f"{QUESTION}\n@sim {json.dumps({'title': True, **options})}"


def _title(conversation: Conversation) -> tuple[str, str]:
    """As it stands, and who made it."""
    conversation.refresh_from_db()
    return conversation.title, conversation.title_source


def _charge(conversation: Conversation) -> Charge:
    return Charge.objects.get(account=conversation.account_id)


def test_a_title_is_made_of_the_first_message(conversation: Conversation) -> None:
    assert _make(conversation) == "How Deep Is The Sea"
    assert _title(conversation) == ("How Deep Is The Sea", _Source.MODEL)


def test_the_platform_pays(conversation: Conversation) -> None:
    _make(conversation)
    charge = _charge(conversation)
    assert (charge.status, charge.funding, charge.source) == ("settled", "platform", "web")
    assert charge.model_id == "claude-haiku-5-5"
    assert charge.api_key_id is None
    assert charge.cost > 0
    assert (charge.charge_plan, charge.charge_balance) == (0, 0)


def test_no_more_than_the_beginning_of_a_message_is_sent(
    conversation: Conversation, simulator: RunningSimulator
) -> None:
    marker = uuid4().hex
    _make(conversation, _steered(marker=marker) + "\n" + "sea " * 20_000)
    [call] = simulator.calls(marker)
    assert call["prompt_tokens"] < 1_000


def test_it_is_made_once(conversation: Conversation) -> None:
    _make(conversation)
    assert _make(conversation, "something else") is None
    assert _title(conversation) == ("How Deep Is The Sea", _Source.MODEL)


def test_a_name_of_the_users_stays(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(title="Mine", title_source=_Source.USER)
    assert _make(conversation) is None
    assert _title(conversation) == ("Mine", _Source.USER)
    assert _charge(conversation).status == "settled"


@pytest.mark.parametrize(
    "options",
    [
        {"status": 400},
        {"drop": True},
        {"blocked": True},
        {"refusal": True},
        {"text": ""},
        {"text": '"."'},
        {"text": "I cannot say how deep the sea is, because nobody has ever told me that. " * 3},
    ],
)
def test_a_title_that_cannot_be_made_leaves_all_as_it_was(
    conversation: Conversation, options: dict[str, object]
) -> None:
    assert _make(conversation, _steered(**options)) is None
    assert _title(conversation) == (QUESTION, _Source.FIRST_MESSAGE)
    assert _charge(conversation).status in ("settled", "released")


def test_what_is_wrapped_around_a_title_is_left_out(conversation: Conversation) -> None:
    assert (
        _make(conversation, _steered(text="**Title: “Deep\u202e Sea”.**\n\nIt is.")) == "Deep Sea"
    )


@pytest.mark.parametrize(
    "model", ["", "mistral-medium-3.5", "no-such-model", "gpt-image-2.5-flare"]
)
def test_without_a_model_nothing_is_called(
    conversation: Conversation, settings: Settings, model: str
) -> None:
    settings.TITLE_MODEL = model
    assert _make(conversation) is None
    assert _title(conversation) == (QUESTION, _Source.FIRST_MESSAGE)
    assert not Charge.objects.filter(account=conversation.account_id).exists()


@pytest.mark.parametrize("message", ["", "?!", "🌊 …\n"])
def test_of_a_message_without_words_nothing_is_made(
    conversation: Conversation, message: str
) -> None:
    assert _make(conversation, message) is None
    assert not Charge.objects.filter(account=conversation.account_id).exists()


def test_once_the_days_budget_is_spent_nothing_is_called(
    conversation: Conversation, settings: Settings
) -> None:
    settings.FREE_DAILY_BUDGET_USD = 0
    assert _make(conversation) is None
    assert not Charge.objects.filter(account=conversation.account_id).exists()


@pytest.mark.parametrize("change", ["rename", "delete", "delete the message"])
def test_what_the_user_does_meanwhile_stands(
    alice: User, conversation: Conversation, simulator: RunningSimulator, change: str
) -> None:
    marker = uuid4().hex
    slow = _steered(marker=marker, ttft_ms=300)
    own = Conversation.objects.filter(pk=conversation.pk)

    def meanwhile() -> None:
        while not simulator.calls(marker):
            time.sleep(0.01)
        if change == "rename":
            own.update(title="Mine", title_source=_Source.USER)
        elif change == "delete":
            delete_all(user=alice, conversation_ids=[conversation.pk])
        else:
            delete(
                user=alice, conversation_id=conversation.pk, message_id=question_of(conversation)
            )
        connection.close()

    row = Conversation(
        pk=conversation.pk, account_id=conversation.account_id, leaf_id=conversation.leaf_id
    )
    assert asyncio.run(_served(row, slow, meanwhile)) is None

    left = {"rename": ["Mine"], "delete": [], "delete the message": [""]}
    assert list(own.values_list("title", flat=True)) == left[change]
    assert _charge(row).status == "settled"


def test_the_message_may_be_deleted_just_before_its_title_is_written(
    alice: User, conversation: Conversation
) -> None:
    """What waits for the conversation has seen the message, which is gone when its turn comes."""
    _, charge = bank.hold(alice, COST, owner=bank.live_owner(), funding="platform")
    ending = Ending(charge, alice.pk, "settled", COST, {"tokens_in": 5, "tokens_out": 10})

    def conclude() -> str | None:
        try:
            made = titles.conclude(
                question_id=question_of(conversation), ending=ending, title="How Deep Is The Sea"
            )
            return made[1]
        finally:
            connection.close()

    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(1) as thread:
        ours = (conversation.pk,)
        holder.execute("SELECT FROM conversations_conversation WHERE id = %s FOR UPDATE", ours)
        concluding = thread.submit(conclude)
        wait_until_blocked(holder)
        holder.execute(
            "UPDATE conversations_conversation SET leaf_id = NULL, title = '' WHERE id = %s", ours
        )
        holder.execute("DELETE FROM conversations_message WHERE conversation_id = %s", ours)
        holder.commit()
        assert concluding.result() is None

    assert _title(conversation) == ("", _Source.FIRST_MESSAGE)
