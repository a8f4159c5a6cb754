"""Merging answers into one."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from accounts.models import User
from ai.inference.errors import AnswerInterrupted, CallCancelled, RequestRefusedByProvider
from common.errors import DomainError, NotFound, ValidationFailed
from council.errors import CardRunning, NotEnoughCards, SessionBusy, TooManyCards
from council.models import Card, Session, Turn
from council.selectors.cards import CardState, current_of, get_card, state_of
from council.selectors.prompts import messages_for
from council.selectors.sources import sources_of
from council.services import conversation, debates, merges, sessions
from council.tests import log, manual
from council.tests.conftest import NewOwner
from council.types import MAX_CARDS, MergeMode
from tests.personas import new_user

MODELS = ("gpt-6-luna", "claude-haiku-5-5", "gemini-3.8-flash")


@pytest.fixture
def alice(db: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


@pytest.fixture
def council(alice: User) -> Session:
    """With three answers."""
    council = sessions.start(user=alice, prompt="How deep is the sea?", models=MODELS)
    for card in council.cards.order_by("id"):
        manual.answer(card, "Deep.")
    return council


# --- What it is made of ---------------------------------------------------------------------------


def test_all_that_answer_are_merged_by_the_first_of_their_models(council: Session) -> None:
    merge = _merge(council)

    state = _state(merge)
    assert (state.card.kind, state.version.source, state.version.generation.status) == (
        "merge",
        "merge",
        "queued",
    )
    assert state.version.generation.model == MODELS[0]
    assert _sources(state) == {(str(card.pk), 1) for card in _cards(council)}


def test_the_named_cards_are_merged_by_the_named_model(council: Session) -> None:
    first, _, last = _cards(council)

    merge = _merge(council, card_ids=[last.pk, first.pk], model="grok-4.7")

    state = _state(merge)
    assert state.version.generation.model == "grok-4.7"
    assert _sources(state) == {(str(first.pk), 1), (str(last.pk), 1)}


def test_a_card_without_a_finished_answer_is_passed_over(council: Session, alice: User) -> None:
    first, second, third = _cards(council)
    sessions.regenerate(user=alice, card_id=first.pk)
    manual.begin(first).settle("De", AnswerInterrupted())

    assert _sources(_state(_merge(council))) == {(str(second.pk), 1), (str(third.pk), 1)}


def test_of_what_it_is_made_nothing_else_is_read(council: Session, alice: User) -> None:
    first, *_ = _cards(council)
    sessions.regenerate(user=alice, card_id=first.pk)
    manual.answer(first, "4,000 m.")
    merge = _merge(council)
    sessions.regenerate(user=alice, card_id=first.pk)
    manual.answer(first, "Very deep.")

    rows: list[int] = []
    with connection.execute_wrapper(partial(_count, rows)):
        sources = sources_of(current_of(get_card(alice, merge.pk)))

    texts = {str(source.card_id): source.generation.content for _, source in sources}
    assert texts.pop(str(first.pk)) == "4,000 m."
    assert set(texts.values()) == {"Deep."}
    # The merge, and its three sources.
    assert rows == [1, 3]


def test_merges_can_be_merged_if_they_are_named(council: Session) -> None:
    first, *_ = _cards(council)
    merge = _merge(council)
    manual.answer(merge, "4,000 m.")

    both = _merge(council, card_ids=[first.pk, merge.pk])
    manual.answer(both, "3,688 m.")

    assert _sources(_state(both)) == {(str(first.pk), 1), (str(merge.pk), 1)}
    assert len(_sources(_state(_merge(council)))) == 3


def test_a_merge_keeps_to_the_versions_that_it_was_begun_with(
    council: Session, alice: User
) -> None:
    first, *_ = _cards(council)
    merge = _merge(council)
    sessions.regenerate(user=alice, card_id=first.pk)
    manual.answer(first, "Shallow.")

    prepared = manual.take(merge).prepare()

    assert prepared is not None
    assert "Shallow." not in prepared.messages[0].text


# --- Who may not ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [MergeMode.GUIDED, MergeMode.CUSTOM])
def test_instructions_are_missed_where_the_mode_needs_them(
    council: Session, mode: MergeMode
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        _merge(council, mode=mode, instructions=" \n")
    assert refused.value.extra["errors"][0]["loc"] == ["instructions"]


def test_cards_of_nobody_and_of_others_are_not_found(council: Session, alice: User) -> None:
    first, second, third = _cards(council)
    other = sessions.start(user=alice, prompt="Why?", models=MODELS[:1]).cards.get()
    sessions.remove(user=alice, card_id=third.pk)
    for wrong in (uuid4(), other.pk, third.pk):
        with pytest.raises(NotFound):
            _merge(council, card_ids=[first.pk, second.pk, wrong])
    with pytest.raises(NotFound):
        merges.merge(user=new_user("bob"), session_id=council.pk, mode=MergeMode.FUSE)


def test_a_card_is_named_once(council: Session) -> None:
    first, second, _ = _cards(council)
    with pytest.raises(ValidationFailed):
        _merge(council, card_ids=[first.pk, second.pk, first.pk])


def test_a_named_card_that_is_being_written_is_waited_for(council: Session, alice: User) -> None:
    sessions.regenerate(user=alice, card_id=_ids(council)[0])

    with pytest.raises(CardRunning):
        _merge(council, card_ids=_ids(council))
    assert len(_sources(_state(_merge(council)))) == 2


@pytest.mark.parametrize("names", [True, False])
def test_one_answer_is_not_enough(council: Session, alice: User, names: bool) -> None:
    first, second, third = _cards(council)
    sessions.remove(user=alice, card_id=third.pk)
    sessions.regenerate(user=alice, card_id=second.pk)
    manual.begin(second).release(RequestRefusedByProvider())

    with pytest.raises(NotEnoughCards):
        _merge(council, card_ids=[first.pk, second.pk] if names else None)


@pytest.mark.parametrize("kind", ["merge", "debate", "chat"])
def test_it_waits_for_what_concerns_all(council: Session, alice: User, kind: str) -> None:
    if kind == "merge":
        _merge(council)
    elif kind == "debate":
        debates.debate(user=alice, session_id=council.pk)
    else:
        conversation.chat(user=alice, session_id=council.pk, content="Sure?")

    with pytest.raises(SessionBusy):
        _merge(council)
    with pytest.raises(SessionBusy):
        debates.debate(user=alice, session_id=council.pk)


# Its cards have no versions: all that the service deals have one.
@pytest.mark.parametrize("makes_up_events", [True])
def test_there_is_room_for_as_many_merges_as_answers(council: Session) -> None:
    cards = [Card(session=council, kind=Card.Kind.MERGE) for _ in range(MAX_CARDS - 1)]
    Card.objects.bulk_create(cards)
    manual.answer(_merge(council, card_ids=_ids(council)), "4,000 m.")

    with pytest.raises(TooManyCards):
        _merge(council, card_ids=_ids(council))


# --- How it goes on -------------------------------------------------------------------------------


def test_a_merge_tells_what_of_and_how_it_went(council: Session) -> None:
    merge = _merge(council)
    manual.answer(merge, "4,000 m.")

    (started,) = log.data_of(council.pk, "merge.started")
    (completed,) = log.data_of(council.pk, "merge.completed")
    details = _state(merge).version.details
    for event, status in ((started, "queued"), (completed, "completed")):
        assert event["card"]["id"] == str(merge.pk)
        assert event["card"]["status"] == status
        assert event["mode"] == "fuse"
        assert event["sources"] == details["sources"]
        assert event["label_map"] == {s["label"]: s["card_id"] for s in details["sources"]}
        assert event["synthesis"] == {
            "source": "primary",
            "requested_model": MODELS[0],
            "used_model": MODELS[0],
            "reason": None,
        }
    assert started["turn_id"] == completed["turn_id"] == str(council.turns.get(kind="merge").pk)
    assert log.types(council.pk)[-8:] == [
        "merge.started",
        "session.updated",
        "card.started",
        "card.delta",
        "card.completed",
        "usage.updated",
        "merge.completed",
        "session.completed",
    ]


@pytest.mark.parametrize(
    ("failure", "code"), [(RequestRefusedByProvider(), "invalid_body"), (CallCancelled(), None)]
)
def test_a_merge_that_failed_says_why(
    council: Session, failure: DomainError, code: str | None
) -> None:
    merge = _merge(council)
    manual.begin(merge).release(failure)

    (failed,) = log.data_of(council.pk, "merge.failed")
    assert (failed["card"]["error"] or {}).get("code") == code
    assert failed["synthesis"]["source"] == "primary"
    assert log.types(council.pk)[-1] == "session.completed"


def test_a_merge_that_was_removed_is_not_told_again(council: Session, alice: User) -> None:
    merge = _merge(council)
    sessions.remove(user=alice, card_id=merge.pk)

    types = log.types(council.pk)
    assert "merge.failed" not in types
    assert types[-3:] == ["card.removed", "usage.updated", "session.completed"]
    assert council.turns.get(kind=Turn.Kind.MERGE).status == "cancelled"


def test_regenerating_merges_the_same_answers_again(council: Session, alice: User) -> None:
    first, *_ = _cards(council)
    merge = _merge(council, mode=MergeMode.GUIDED, instructions="Keep the number.")
    manual.answer(merge, "4,000 m.")
    before = _state(merge).version.details
    sessions.regenerate(user=alice, card_id=first.pk)
    manual.answer(first, "Shallow.")

    sessions.regenerate(
        user=alice, card_id=merge.pk, model="grok-4.7", instructions="And the unit."
    )
    prepared = manual.take(merge).prepare()

    state = _state(merge)
    assert state.version.details["sources"] == before["sources"]
    assert (
        state.version.details["synthesis"]["requested_model"]
        == state.version.generation.model
        == "grok-4.7"
    )
    assert prepared is not None
    (message,) = prepared.messages
    assert "Shallow." not in message.text
    assert message.text.index("Keep the number.") < message.text.index("And the unit.")
    assert len(log.data_of(council.pk, "merge.started")) == 2


def test_regenerating_a_reply_on_a_merge_merges_nothing(council: Session, alice: User) -> None:
    merge = _merge(council)
    manual.answer(merge, "4,000 m.")
    conversation.message_card(user=alice, card_id=merge.pk, content="Sure?")
    manual.answer(merge, "Yes.")

    sessions.regenerate(user=alice, card_id=merge.pk)
    manual.answer(merge, "No.")

    assert _state(merge).version.details == {}
    assert len(log.data_of(council.pk, "merge.completed")) == 1


def test_a_restored_merge_is_a_merge(council: Session, alice: User) -> None:
    merge = _merge(council)
    manual.answer(merge, "4,000 m.")
    conversation.message_card(user=alice, card_id=merge.pk, content="Sure?")
    manual.answer(merge, "Yes.")

    sessions.restore(user=alice, card_id=merge.pk, number=1)
    sessions.regenerate(user=alice, card_id=merge.pk)
    manual.answer(merge, "5,000 m.")

    assert len(log.data_of(council.pk, "merge.completed")) == 2


# --- In the life ----------------------------------------------------------------------------------


def test_a_council_is_merged(owner: NewOwner) -> None:
    alice = owner()
    first = alice.finished(*MODELS, prompt=alice.text(tokens=5, reasoning_tokens=20))
    path = f"/sessions/{first['id']}/merge"
    with alice.follow(first) as follower:
        body = {
            "mode": "custom",
            "model_key": "grok-4.7",
            "instructions": alice.text(words="Rhyme."),
        }
        begun = alice.do("POST", path, **body)

    last = follower.pictures[-1]
    merged = last["cards"][-1]
    assert merged["id"] == begun["id"]
    assert (merged["kind"], merged["status"], merged["model"]) == ("merge", "completed", "grok-4.7")
    assert merged["content"]
    alice.check_money(last)
    *answers, call = alice.calls()
    assert (len(answers), call["model"]) == (3, "grok-4.7")
    card = get_card(alice.user, UUID(merged["id"]))
    version = current_of(card)
    assert alice.charges()[str(version.generation_id)].tokens_in == call["prompt_tokens"]
    # What was sent is what is tested elsewhere: the provider counts words and frames.
    messages = messages_for(card.session, card, version)
    assert call["prompt_tokens"] == sum(len(message.text.split()) + 4 for message in messages)
    assert "weighed" not in messages[-1].text  # as in the simulator's thoughts


def _merge(council: Session, *, mode: MergeMode = MergeMode.FUSE, **options: Any) -> Card:
    return merges.merge(user=council.account, session_id=council.pk, mode=mode, **options)


def _cards(council: Session) -> list[Card]:
    return list(council.cards.filter(kind=Card.Kind.ANSWER).order_by("id"))


def _ids(council: Session) -> list[UUID]:
    return [card.pk for card in _cards(council)]


def _state(card: Card) -> CardState:
    card = get_card(card.session.account, card.pk)
    return state_of(card.session.account, card, with_text=True)


def _count(
    rows: list[int], execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
) -> Any:
    """Carry out a statement, and keep how many rows it has brought."""
    result = execute(sql, params, many, context)
    rows.append(context["cursor"].rowcount)
    return result


def _sources(state: CardState) -> set[tuple[str, int]]:
    return {(source["card_id"], source["version"]) for source in state.version.details["sources"]}
