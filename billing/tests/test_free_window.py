"""The free plan's chat: ten messages per model and 4 hours, decided by the hold itself."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection

from accounts.models import User
from ai.catalog.models import AIModel
from billing.models import Charge, FreeWindow
from billing.services.balance import change_plan
from billing.tests.bank import (
    BALANCE_ONLY,
    FREE_MODEL,
    IN_PLAN,
    charge_of,
    checkpoint,
    expire,
    hold,
    live_owner,
    new_account,
    release,
    release_all,
    settle,
    wallet_of,
)
from billing.tests.web_app import clock

pytestmark = pytest.mark.usefixtures("committed")

# Two models that the free plan has.
FREE_MODELS = (FREE_MODEL, "gpt-oss-120b")


@pytest.fixture
def charlie(committed: None) -> User:
    """On the free plan, without a cent."""
    return new_account(plan="free", balance=0)


@pytest.fixture
def owner(committed: None) -> UUID:
    return live_owner()


def message(user: User, owner: UUID, model: str = FREE_MODEL) -> tuple[str, UUID]:
    """The hold of a message of the web app's chat, and its charge."""
    return hold(user, 1_000, owner=owner, model=model, free_window=True)


def send(user: User, owner: UUID, model: str = FREE_MODEL) -> str:
    """A message that is answered. Returns the verdict."""
    verdict, charge = message(user, owner, model)
    if verdict == "held":
        settle(charge, 900)
    return verdict


def used(user: User, model: str = FREE_MODEL) -> int:
    return FreeWindow.objects.get(account=user, model=model).used


def test_ten_messages_are_admitted_and_no_eleventh(charlie: User, owner: UUID) -> None:
    verdicts = [send(charlie, owner) for _ in range(12)]

    assert verdicts == ["held"] * 10 + ["free_limit"] * 2
    assert used(charlie) == 10


def test_each_model_has_its_own_ten_however_many_are_sent_at_once(charlie: User) -> None:
    owner = live_owner()
    together = Barrier(20)

    def send_one(number: int) -> tuple[str, str]:
        model = FREE_MODELS[number % 2]
        together.wait()
        try:
            return model, message(charlie, owner, model)[0]
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:
        first = list(threads.map(send_one, range(20)))
        second = list(threads.map(send_one, range(20)))

    for model in FREE_MODELS:
        verdicts = [verdict for sent, verdict in first + second if sent == model]
        assert sorted(verdicts) == ["free_limit"] * 10 + ["held"] * 10
        assert used(charlie, model) == 10
    release_all(charlie)


def test_the_last_message_goes_to_one_of_many(charlie: User, owner: UUID) -> None:
    for _ in range(9):
        send(charlie, owner)
    together = Barrier(20)

    def send_one(_: int) -> str:
        together.wait()
        try:
            return message(charlie, owner)[0]
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:
        verdicts = list(threads.map(send_one, range(20)))

    assert verdicts.count("held") == 1
    assert used(charlie) == 10
    release_all(charlie)


def test_the_window_is_anchored_at_the_first_message_and_ends_four_hours_later(
    charlie: User, owner: UUID
) -> None:
    with clock("2026-10-23T12:00:00Z"):
        send(charlie, owner)
    with clock("2026-10-23T15:59:59.999Z"):
        # However late in the window the others come, it is not moved.
        assert [send(charlie, owner) for _ in range(10)] == ["held"] * 9 + ["free_limit"]
    with clock("2026-10-23T16:00:00Z"):
        assert send(charlie, owner) == "held"
        assert used(charlie) == 1
    with clock("2026-10-23T19:59:59.999Z"):
        assert [send(charlie, owner) for _ in range(10)] == ["held"] * 9 + ["free_limit"]


def test_a_window_that_was_left_alone_begins_with_the_next_message(
    charlie: User, owner: UUID
) -> None:
    with clock("2026-10-23T12:00:00Z"):
        send(charlie, owner)
    with clock("2026-10-23T19:00:00Z"):
        send(charlie, owner)

    window = FreeWindow.objects.get(account=charlie)
    assert (window.window_start.hour, window.used) == (19, 1)


def test_a_message_that_brought_nothing_is_given_back(charlie: User, owner: UUID) -> None:
    charges = [message(charlie, owner)[1] for _ in range(10)]
    assert send(charlie, owner) == "free_limit"

    release(charges[0])
    release(charges[0])
    expire(charges[1])  # without any output

    assert used(charlie) == 8
    assert [send(charlie, owner) for _ in range(3)] == ["held", "held", "free_limit"]
    release_all(charlie)


def test_a_message_that_broke_off_after_its_first_words_is_not(charlie: User, owner: UUID) -> None:
    _, charge = message(charlie, owner)
    checkpoint(owner, charge, 100)
    expire(charge)

    assert charge_of(charge).status == "expired"
    assert used(charlie) == 1


def test_what_is_given_back_late_does_not_lengthen_the_next_window(
    charlie: User, owner: UUID
) -> None:
    with clock("2026-10-23T15:00:00Z"):
        owner = live_owner()
        _, slow = message(charlie, owner)
    with clock("2026-10-23T19:00:00Z"):
        assert send(charlie, owner) == "held"
        release(slow)
        assert used(charlie) == 1


def test_a_free_message_costs_nothing_and_says_what_it_would_have(
    charlie: User, owner: UUID
) -> None:
    _, charge = message(charlie, owner)
    assert wallet_of(charlie).held == 0
    settle(charge, 900)

    row = charge_of(charge)
    assert (row.funding, row.cost) == (Charge.Funding.PLATFORM, 900)
    assert (row.charge_plan, row.charge_balance, row.shortfall) == (0, 0, 0)


def test_a_balance_buys_no_further_message_on_the_free_plan(owner: UUID) -> None:
    rich = new_account(plan="free", balance=10**12)
    for _ in range(10):
        send(rich, owner)

    assert send(rich, owner) == "free_limit"
    assert send(rich, owner, BALANCE_ONLY) == "free_model_locked"
    assert wallet_of(rich).balance == 10**12


def test_a_model_that_is_not_free_is_locked_and_takes_no_message(
    charlie: User, owner: UUID
) -> None:
    assert send(charlie, owner, BALANCE_ONLY) == "free_model_locked"
    assert not FreeWindow.objects.filter(account=charlie).exists()


def test_a_model_that_an_operator_takes_off_the_list_is_locked_at_once(
    charlie: User, owner: UUID
) -> None:
    send(charlie, owner)
    AIModel.objects.filter(pk=FREE_MODEL).update(free=False)
    try:
        assert send(charlie, owner) == "free_model_locked"
    finally:
        AIModel.objects.filter(pk=FREE_MODEL).update(free=True)


@pytest.mark.parametrize("plan", ["starter", "pro", "max", "advanced", "enterprise"])
def test_on_a_paid_plan_there_is_no_window(plan: str, owner: UUID) -> None:
    alice = new_account(plan=plan, balance=10**9)

    verdicts = {send(alice, owner) for _ in range(12)}

    assert verdicts == {"held"}
    assert not FreeWindow.objects.filter(account=alice).exists()
    funding = set(Charge.objects.filter(account=alice).values_list("funding", flat=True))
    assert funding == {Charge.Funding.CUSTOMER}


def test_a_call_that_is_no_message_is_paid_by_the_balance_on_the_free_plan_too(
    charlie: User, owner: UUID
) -> None:
    assert hold(charlie, 1_000, owner=owner, model=FREE_MODEL)[0] == "insufficient_balance"
    assert not FreeWindow.objects.filter(account=charlie).exists()


def test_an_upgrade_ends_the_limit_and_a_downgrade_finds_it_as_it_was(
    charlie: User, owner: UUID
) -> None:
    for _ in range(10):
        send(charlie, owner)
    assert send(charlie, owner) == "free_limit"

    change_plan(account=charlie, plan="starter")
    assert send(charlie, owner) == "held"
    assert send(charlie, owner, IN_PLAN) == "held"

    change_plan(account=charlie, plan="free", forced=True)
    assert send(charlie, owner) == "free_limit"
    assert send(charlie, owner, IN_PLAN) == "held"  # a window of its own
    assert used(charlie, IN_PLAN) == 1


def test_a_message_under_way_ends_by_the_plan_that_admitted_it(charlie: User, owner: UUID) -> None:
    _, paid_by_us = message(charlie, owner)
    _, given_back = message(charlie, owner)
    change_plan(account=charlie, plan="starter")
    _, paid_by_plan = message(charlie, owner)
    change_plan(account=charlie, plan="free", forced=True)

    settle(paid_by_us, 900)
    release(given_back)
    settle(paid_by_plan, 900)

    assert charge_of(paid_by_us).charge_plan == 0
    assert charge_of(paid_by_plan).charge_plan == 900
    assert used(charlie) == 1
