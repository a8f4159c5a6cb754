"""Another model merges where the first cannot be reached: once, and it is said."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.conf import LazySettings

from accounts.models import User
from ai.catalog import selectors as catalog
from ai.catalog.models import AIModel
from ai.inference.errors import (
    AnswerInterrupted,
    CallCancelled,
    CallInterrupted,
    ContentBlocked,
    InputTooLong,
    RequestRefusedByProvider,
    UpstreamFailed,
)
from ai.provider_health.errors import ProviderNotAvailable
from ai.providers.config import SIMULATED_BY_DEFAULT, from_environ
from billing.errors import InsufficientBalance
from billing.tests import bank
from billing.types import Funds
from common.database import DatabaseUnavailable
from common.errors import DomainError, ServiceUnavailable
from council.models import Card, Generation, Session
from council.selectors.cards import CardState, get_card, state_of
from council.services import conversation, merges, sessions
from council.services.estimates import estimate
from council.tests import log, manual
from council.tests.conftest import NewOwner
from council.types import MergeMode
from tests.personas import new_user

AUTHORS = ("gpt-6-luna", "claude-haiku-5-5")
REQUESTED = "grok-4.7"
# Of all others but xAI's the nearest in price of those that do not cost more.
NEAREST = "gpt-6.1-terra"

Disable = Callable[..., None]


@pytest.fixture(autouse=True)
def providers(settings: LazySettings) -> None:
    """All that tests have, though none is called here."""
    settings.PROVIDERS = from_environ(
        {}, simulated=SIMULATED_BY_DEFAULT, simulator_url="http://127.0.0.1:9"
    )


@pytest.fixture
def alice(db: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


@pytest.fixture
def council(alice: User) -> Session:
    """With two answers."""
    return _council(alice, *AUTHORS)


@pytest.fixture
def disable(db: None) -> Iterator[Disable]:
    """Takes models off the catalog."""

    def take_off(*models: str) -> None:
        AIModel.objects.filter(id__in=models).update(enabled=False)
        catalog.reset()

    yield take_off
    catalog.reset()


@pytest.mark.parametrize(
    "failure",
    [UpstreamFailed(), ProviderNotAvailable(), ServiceUnavailable(), DatabaseUnavailable()],
)
def test_another_model_takes_over(council: Session, failure: DomainError) -> None:
    merge = _merge(council)
    first = manual.begin(merge)
    first.release(failure)

    state = _state(merge)
    assert (
        state.version.generation.status,
        state.version.generation.model,
        state.version.number,
    ) == ("queued", NEAREST, 1)
    assert state.version.details["synthesis"] == {
        "source": "fallback",
        "requested_model": REQUESTED,
        "used_model": NEAREST,
        "reason": failure.code,
    }
    (updated,) = log.data_of(council.pk, "card.updated")
    assert (updated["card"]["status"], updated["card"]["model"]) == ("queued", NEAREST)
    assert log.types(council.pk)[-1] == "card.updated"

    second = manual.answer(merge, "4,000 m.")

    assert second.job_id != first.job_id
    state = _state(merge)
    assert (state.version.generation.status, state.content, state.version.number) == (
        "completed",
        "4,000 m.",
        1,
    )
    assert state.cost > 0
    (completed,) = log.data_of(council.pk, "merge.completed")
    assert completed["synthesis"] == state.version.details["synthesis"]
    assert "merge.failed" not in log.types(council.pk)


@pytest.mark.parametrize(
    "failure",
    [
        RequestRefusedByProvider(),
        ContentBlocked(),
        InputTooLong(),
        CallCancelled(),
        CallInterrupted(),
        InsufficientBalance(model_key=REQUESTED, plan="max", funds=Funds(0, 0), needed=1),
    ],
)
def test_no_other_model_is_asked_what_was_refused_or_broke_off(
    council: Session, failure: DomainError
) -> None:
    merge = _merge(council)
    manual.begin(merge).release(failure)

    state = _state(merge)
    assert state.version.generation.status in ("failed", "cancelled")
    is_cancelled = isinstance(failure, CallCancelled)
    assert (state.version.generation.error or {}).get("code") == (
        None if is_cancelled else failure.code
    )
    assert state.version.details["synthesis"]["source"] == "primary"


@pytest.mark.parametrize("text", ["4,", ""])
def test_a_model_that_has_said_or_thought_something_is_not_replaced(
    council: Session, text: str
) -> None:
    failure = AnswerInterrupted() if text else ServiceUnavailable()
    merge = _merge(council)
    manual.begin(merge).settle(text, failure)

    assert (_state(merge).version.generation.status, _state(merge).content) == ("failed", text)


def test_there_is_one_fallback_and_its_failure_is_told_as_it_is(council: Session) -> None:
    merge = _merge(council)
    manual.begin(merge).release(UpstreamFailed())
    manual.begin(merge).release(ProviderNotAvailable())

    state = _state(merge)
    assert (state.version.generation.status, state.cost) == ("failed", 0)
    assert state.version.generation.error is not None
    assert state.version.generation.error["code"] == "provider_unavailable"
    assert state.version.details["synthesis"]["reason"] == "upstream_error"
    (failed,) = log.data_of(council.pk, "merge.failed")
    assert failed["synthesis"] == state.version.details["synthesis"]
    assert Generation.objects.filter(card=merge).count() == 2


def test_a_merge_that_is_repeated_may_fall_back_again(council: Session, alice: User) -> None:
    merge = _merge(council)
    for _ in range(2):
        manual.begin(merge).release(UpstreamFailed())

    sessions.regenerate(user=alice, card_id=merge.pk, model=REQUESTED)
    assert _state(merge).version.details["synthesis"]["source"] == "primary"
    manual.begin(merge).release(UpstreamFailed())

    assert (_state(merge).version.generation.status, _state(merge).version.generation.model) == (
        "queued",
        NEAREST,
    )


def test_a_model_that_left_the_catalog_with_its_price_is_not_replaced(
    council: Session, disable: Disable
) -> None:
    merge = _merge(council)
    disable(REQUESTED)
    manual.take(merge).give_up(ProviderNotAvailable())

    _has_failed(merge, "provider_unavailable")


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        # What is down is more often a provider than a model.
        (["gpt-6.1-terra", "deepseek-v4-pro"], "deepseek-v4-pro"),
        # Nobody pays more than they asked for.
        (["gemini-3.1-pro-preview", "gemini-3.8-flash"], "gemini-3.8-flash"),
        (["gemini-3.8-flash", "claude-sonnet-5-5", "grok-4.7"], "claude-sonnet-5-5"),
    ],
    ids=["another provider", "not dearer", "nearest"],
)
def test_the_best_of_what_is_left_takes_over(
    council: Session, disable: Disable, left: list[str], expected: str
) -> None:
    requested = "gpt-6.1-sol"
    merge = _merge(council, model=requested)
    others = AIModel.objects.exclude(id__in=[*AUTHORS, requested, *left])
    disable(*others.values_list("id", flat=True))
    manual.begin(merge).release(UpstreamFailed())

    assert _state(merge).version.generation.model == expected


def test_one_of_the_same_provider_is_better_than_none(alice: User, settings: LazySettings) -> None:
    council = _council(alice, *AUTHORS)
    merge = merges.merge(
        user=alice, session_id=council.pk, mode=MergeMode.FUSE, model="gpt-6.1-sol"
    )
    simulated = frozenset(["openai"])
    settings.PROVIDERS = from_environ({}, simulated=simulated, simulator_url="http://127.0.0.1:9")
    manual.begin(merge).release(UpstreamFailed())

    assert _state(merge).version.generation.model == "gpt-6.1-terra"


@pytest.mark.parametrize(
    ("balance", "expected"), [(1_000_000_000, "kimi-k3"), (100_000_000, "gpt-6.1-terra")]
)
def test_none_is_asked_that_cannot_be_paid(db: None, balance: int, expected: str) -> None:
    alice = bank.new_account(plan="starter", balance=balance)
    merge = _merge(_council(alice, *AUTHORS), model="claude-opus-5-5")
    manual.begin(merge).release(UpstreamFailed())

    assert _state(merge).version.generation.model == expected


def test_none_is_asked_that_the_plan_does_not_pay_where_it_would_have_paid(
    council: Session,
) -> None:
    """Such a call costs less, but twice of that is more."""
    merge = _merge(council, model="claude-opus-5-5")
    manual.begin(merge).release(UpstreamFailed())

    assert _state(merge).version.generation.model == "gemini-3.1-pro-preview"


@pytest.mark.parametrize("left", [[], ["gemini-3.1-pro-preview", "claude-opus-5-5"]])
def test_where_only_authors_and_dearer_ones_are_left_the_merge_has_failed(
    council: Session, disable: Disable, left: list[str]
) -> None:
    merge = _merge(council)
    others = AIModel.objects.exclude(id__in=[*AUTHORS, REQUESTED, *left])
    disable(*others.values_list("id", flat=True))
    manual.begin(merge).release(UpstreamFailed())

    _has_failed(merge, "upstream_error")


@pytest.mark.parametrize("requested", ["claude-opus-5-5", "kimi-k3", "gpt-oss-120b"])
def test_whoever_merges_costs_at_most_what_was_estimated(
    council: Session, alice: User, requested: str
) -> None:
    bound = _at_most(alice, council, requested)
    merge = _merge(council, model=requested)
    manual.begin(merge).release(UpstreamFailed())
    if _state(merge).version.generation.status == "queued":
        manual.answer(merge, "4,000 m.")

    assert _at_most(alice, council, _state(merge).version.generation.model) <= bound


def test_a_removed_merge_is_left_alone(council: Session, alice: User) -> None:
    merge = _merge(council)
    call = manual.begin(merge)
    sessions.remove(user=alice, card_id=merge.pk)
    call.release(UpstreamFailed())

    assert council.turns.get(kind="merge").status == "failed"


def test_a_reply_on_a_merge_is_not_given_to_another_model(council: Session, alice: User) -> None:
    merge = _merge(council)
    manual.answer(merge, "4,000 m.")
    conversation.message_card(user=alice, card_id=merge.pk, content="Sure?")
    manual.begin(merge).release(UpstreamFailed())

    assert _state(merge).version.generation.status == "failed"


def test_a_council_is_merged_although_the_first_model_fails(owner: NewOwner) -> None:
    alice = owner()
    session = alice.finished(*AUTHORS)
    instructions = alice.text({"model": REQUESTED, "fail": "before"}, words="Keep it short.")
    with alice.follow(session) as follower:
        alice.do(
            "POST",
            f"/sessions/{session['id']}/merge",
            mode="guided",
            model_key=REQUESTED,
            instructions=instructions,
        )

    last = follower.pictures[-1]
    merged = last["cards"][-1]
    assert (merged["status"], merged["model"]) == ("completed", NEAREST)
    assert merged["details"]["synthesis"]["reason"] == "upstream_error"
    alice.check_money(last)
    card = get_card(alice.user, UUID(merged["id"]))
    charges = alice.charges()
    statuses = [charges[str(g.pk)].status for g in card.generations.order_by("id")]
    assert statuses == ["released", "settled"]
    assert {call["model"] for call in alice.calls()[2:]} == {REQUESTED, NEAREST}


def _council(user: User, *models: str) -> Session:
    council = sessions.start(user=user, prompt="How deep is the sea?", models=models)
    for card in council.cards.order_by("id"):
        manual.answer(card, "Deep.")
    return council


def _merge(council: Session, **options: Any) -> Card:
    return merges.merge(
        user=council.account,
        session_id=council.pk,
        mode=MergeMode.FUSE,
        **{"model": REQUESTED, **options},
    )


def _at_most(user: User, council: Session, model: str) -> int:
    """What a merge by that model would cost at most, as its user is told."""
    merge = partial(
        merges.merge, user=user, session_id=council.pk, mode=MergeMode.FUSE, model=model
    )
    return estimate(user=user, action=merge).at_most


def _has_failed(merge: Card, code: str) -> None:
    """By itself: no other model was asked."""
    state = _state(merge)
    assert state.version.generation.status == "failed"
    assert state.version.generation.error is not None
    assert state.version.generation.error["code"] == code
    assert state.version.details["synthesis"]["source"] == "primary"
    assert merge.generations.count() == 1


def _state(card: Card) -> CardState:
    card = get_card(card.session.account, card.pk)
    return state_of(card.session.account, card, with_text=True)
