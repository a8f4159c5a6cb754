"""Debates: cards revise their answers in the light of the others', round by round."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts.models import User
from ai.inference.errors import AnswerInterrupted, UpstreamFailed
from billing.errors import InsufficientBalance
from billing.types import Funds
from common.errors import DomainError, NotFound, ValidationFailed
from council.errors import CardRunning, NotEnoughCards, SessionBusy, TooManyVersions
from council.models import Card, Session, Status, Turn, Version
from council.selectors.cards import CardState, current_of, get_card, state_of
from council.selectors.prompts import messages_for
from council.services import conversation, debates, merges, sessions
from council.tests import log, manual
from council.types import MAX_VERSIONS, MergeMode
from tests.personas import new_user

MODELS = ("gpt-6-luna", "claude-haiku-5-5", "gemini-3.8-flash")
ANSWERS = ("Deep.", "4,000 m.", "Nobody knows.")
UNCHANGED = "<revised_answer>UNCHANGED</revised_answer>"


@pytest.fixture
def alice(db: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


@pytest.fixture
def council(alice: User) -> Session:
    """With three answers."""
    council = sessions.start(user=alice, prompt="How deep is the sea?", models=MODELS)
    for card, text in zip(council.cards.order_by("id"), ANSWERS, strict=True):
        manual.answer(card, text)
    return council


# --- A round --------------------------------------------------------------------------------------


def test_a_revision_takes_the_place_of_the_answer_in_its_thread(
    council: Session, alice: User
) -> None:
    first, *others = _cards(council)
    conversation.message_card(user=alice, card_id=first.pk, content="In metres?")
    manual.answer(first, "3,000.")
    before = _version(first)
    _debate(council)
    manual.answer(first, manual.revised("3,688.", errors="B guesses.", held="The unit."))
    for card in others:
        manual.answer(card, UNCHANGED)

    version = _version(first)
    assert (version.source, version.revises) == (Version.Source.DEBATE, before)
    assert (version.parent, version.message) == (before.parent, before.message)
    state = _state(first)
    assert (state.version.generation.status, state.content) == ("completed", "3,688.")
    assert state.version.details == {
        "round": 1,
        "errors": "B guesses.",
        "conceded": "",
        "held": "The unit.",
        "changed": True,
    }
    conversation.message_card(user=alice, card_id=first.pk, content="Sure?")
    assert _asked(first)[-3:] == ["In metres?", "3,688.", "Sure?"]


def test_a_revision_can_be_restored_away(council: Session, alice: User) -> None:
    first, *others = _cards(council)
    _debate(council)
    for card in (first, *others):
        manual.answer(card, manual.revised("No idea."))

    sessions.restore(user=alice, card_id=first.pk, number=1)

    assert _state(first).content == "Deep."
    conversation.message_card(user=alice, card_id=first.pk, content="Sure?")
    assert _asked(first) == ["How deep is the sea?", "Deep.", "Sure?"]


def test_an_answer_that_stands_is_told_again_and_has_not_changed(council: Session) -> None:
    first, *_ = _cards(council)
    _debate(council)
    manual.answer(first, UNCHANGED)

    state = _state(first)
    assert (state.content, state.version.details["changed"]) == ("Deep.", False)
    delta = log.data_of(council.pk, "card.delta")[-1]
    assert (delta["version"], delta["offset"], delta["text"]) == (2, 0, "Deep.")


def test_an_answer_that_stands_has_ended_as_when_it_was_written(
    council: Session, alice: User
) -> None:
    first, second, third = _cards(council)
    sessions.regenerate(user=alice, card_id=first.pk)
    manual.begin(first).settle("Deep, ve", finish="length")
    _debate(council)
    manual.answer(first, UNCHANGED)
    manual.begin(second).settle("<revised_answer>4,00", finish="length")
    manual.begin(third).settle("<errors_found>A is wro", finish="content_filter")

    ended = [
        (state.content, state.version.generation.finish_reason)
        for state in map(_state, _cards(council))
    ]
    assert ended == [("Deep, ve", "length"), ("4,00", "length"), ("Nobody knows.", "stop")]


def test_a_debate_tells_who_takes_part_and_where_they_stand(council: Session) -> None:
    first, second, third = _cards(council)
    turn = _debate(council, focus="The number.")
    manual.answer(first, manual.revised("3,688 m."))
    manual.answer(second, UNCHANGED)
    manual.begin(third).release(UpstreamFailed())

    (started,) = log.data_of(council.pk, "debate.started")
    (round_completed,) = log.data_of(council.pk, "debate.round.completed")
    (completed,) = log.data_of(council.pk, "debate.completed")
    labels = turn.params["labels"]
    assert started == {
        "turn_id": str(turn.pk),
        "rounds": 1,
        "focus": "The number.",
        "participants": [{"card_id": card_id, "label": label} for card_id, label in labels.items()],
    }
    stands = sorted(
        (
            _position(first, labels, changed=True),
            _position(second, labels),
            _position(third, labels, status="failed"),
        ),
        key=lambda position: position["label"],
    )
    assert round_completed == {"turn_id": str(turn.pk), "round": 1, "positions": stands}
    assert completed == {
        "turn_id": str(turn.pk),
        "rounds_run": 1,
        "stopped_early": False,
        "positions": stands,
    }
    types = log.types(council.pk)
    begun = types.index("debate.started")
    assert types[begun + 1 : begun + 5] == ["card.version.created"] * 3 + ["session.updated"]
    assert types[-7:] == [
        "card.failed",
        "usage.updated",
        "card.restored",
        "card.delta",
        "debate.round.completed",
        "debate.completed",
        "session.completed",
    ]


# --- Round after round ----------------------------------------------------------------------------


def test_the_next_round_begins_when_all_have_ended(council: Session) -> None:
    cards = _cards(council)
    _debate(council, rounds=2)
    _session(council, "debating", 1, 2)
    for card in cards[:2]:
        manual.answer(card, manual.revised("About 4 km."))
    _session(council, "debating", 1, 2)
    manual.answer(cards[2], UNCHANGED)

    _session(council, "debating", 2, 2)
    assert [_state(card).version.generation.status for card in cards] == ["queued"] * 3
    assert [_version(card).details for card in cards] == [{"round": 2}] * 3
    for card in cards:
        manual.answer(card, manual.revised("4,000 m."))

    (completed,) = log.data_of(council.pk, "debate.completed")
    assert (completed["rounds_run"], completed["stopped_early"]) == (2, False)
    _session(council, "", None, None)


def test_it_stops_when_nobody_changes_anything(council: Session) -> None:
    first, second, third = _cards(council)
    _debate(council, rounds=3)
    manual.answer(first, UNCHANGED)
    manual.answer(second, manual.revised("4,000 m."))  # which it has said before
    manual.answer(third, UNCHANGED)

    (completed,) = log.data_of(council.pk, "debate.completed")
    assert (completed["rounds_run"], completed["stopped_early"]) == (1, True)
    _session(council, "", None, None)


@pytest.mark.parametrize("how", ["failed", "broke off", "said nothing", "died", "not paid"])
def test_who_fails_takes_no_part_any_more(council: Session, alice: User, how: str) -> None:
    *good, bad = _cards(council)
    _debate(council, rounds=3)
    if how == "failed":
        manual.begin(bad).release(UpstreamFailed())
    elif how == "broke off":
        manual.begin(bad).settle("<revised_answer>3,6", AnswerInterrupted())
    elif how == "said nothing":
        manual.begin(bad).settle("")
    elif how == "died":
        manual.begin(bad).on_lost()
    else:
        refusal = InsufficientBalance(model_key=MODELS[2], plan="max", funds=Funds(0, 0), needed=1)
        manual.take(bad).give_up(refusal)
    for card in good:
        manual.answer(card, manual.revised("4 km."))

    assert [_state(card).version.generation.status for card in (*good, bad)] == [
        "queued",
        "queued",
        "completed",
    ]
    _is_as_before(bad)
    for card in good:
        manual.answer(card, UNCHANGED)

    (completed,) = log.data_of(council.pk, "debate.completed")
    assert completed["rounds_run"] == 2
    assert [p["status"] for p in completed["positions"] if p["card_id"] == str(bad.pk)] == [
        "failed"
    ]
    assert len(log.data_of(council.pk, "debate.round.completed")[1]["positions"]) == 2
    failed = bad.versions.get(number=2).generation
    assert (failed.status, failed.content) == ("failed", "3,6" if how == "broke off" else "")


def test_after_a_failed_round_its_card_goes_on_from_the_round_before(
    council: Session, alice: User
) -> None:
    *others, card = _cards(council)
    _debate(council, rounds=2)
    for each in (*others, card):
        manual.answer(each, manual.revised("4 km."))
    manual.begin(card).release(UpstreamFailed())
    for each in others:
        manual.answer(each, UNCHANGED)

    state = _state(card)
    assert (state.content, state.version.source, state.version.number) == ("4 km.", "restore", 4)
    assert _version(card).restored_from == 2
    merge = merges.merge(user=alice, session_id=council.pk, mode=MergeMode.FUSE)
    assert len(state_of(alice, merge, with_text=False).version.details["sources"]) == 3
    conversation.message_card(user=alice, card_id=card.pk, content="Sure?")
    assert _asked(card) == ["How deep is the sea?", "4 km.", "Sure?"]


def test_a_debate_of_which_nothing_came_leaves_the_answers_as_they_were(council: Session) -> None:
    cards = _cards(council)
    _debate(council)
    for card in cards:
        manual.begin(card).release(UpstreamFailed())

    assert [_state(card).content for card in cards] == list(ANSWERS)
    _session(council, "", None, None)


def test_there_is_room_to_take_back_the_last_round(council: Session) -> None:
    first, *_ = _cards(council)
    Version.objects.filter(card=first).update(number=MAX_VERSIONS - 2)
    _debate(council)
    manual.begin(first).release(UpstreamFailed())

    assert _state(first).version.number == MAX_VERSIONS


def test_it_stops_when_one_is_left(council: Session) -> None:
    first, second, third = _cards(council)
    _debate(council, rounds=3)
    manual.answer(first, manual.revised("4 km."))
    for card in (second, third):
        manual.begin(card).release(UpstreamFailed())

    (completed,) = log.data_of(council.pk, "debate.completed")
    assert (completed["rounds_run"], completed["stopped_early"]) == (1, True)


@pytest.mark.parametrize("state", ["queued", "running", "done"])
def test_a_removed_card_takes_no_part_any_more(council: Session, alice: User, state: str) -> None:
    *left, removed = _cards(council)
    _debate(council, rounds=2)
    for card in left:
        manual.answer(card, manual.revised("4 km."))
    if state == "running":
        call = manual.begin(removed)
        sessions.remove(user=alice, card_id=removed.pk)
        call.settle("<revised_answer>3,6", AnswerInterrupted())
    else:
        if state == "done":
            manual.answer(removed, manual.revised("3 km."))
        sessions.remove(user=alice, card_id=removed.pk)

    _session(council, "debating", 2, 2)
    for card in left:
        manual.answer(card, UNCHANGED)
    if state == "done":
        _session(council, "", None, None)
    positions = log.data_of(council.pk, "debate.completed")[-1]["positions"]
    assert {p["card_id"] for p in positions} == {str(card.pk) for card in left}


# --- Who may not ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [-1, 0, 4])
def test_a_debate_has_one_to_three_rounds(council: Session, rounds: int) -> None:
    with pytest.raises(ValidationFailed):
        _debate(council, rounds=rounds)


def test_cards_of_others_are_not_found(council: Session) -> None:
    with pytest.raises(NotFound):
        _debate(council, card_ids=[*_ids(council), uuid4()])
    with pytest.raises(NotFound):
        debates.debate(user=new_user("bob"), session_id=council.pk)


def test_a_merge_takes_no_part(council: Session, alice: User) -> None:
    merge = merges.merge(user=alice, session_id=council.pk, mode=MergeMode.FUSE)
    manual.answer(merge, "4 km.")

    with pytest.raises(ValidationFailed):
        _debate(council, card_ids=[*_ids(council), merge.pk])
    assert str(merge.pk) not in _debate(council).params["labels"]


def test_a_named_card_that_is_being_written_is_waited_for(council: Session, alice: User) -> None:
    sessions.regenerate(user=alice, card_id=_ids(council)[0])

    with pytest.raises(CardRunning):
        _debate(council, card_ids=_ids(council))
    assert len(_debate(council).params["labels"]) == 2


def test_one_answer_is_no_debate(council: Session) -> None:
    with pytest.raises(NotEnoughCards):
        _debate(council, card_ids=_ids(council)[:1])


def test_there_has_to_be_room_for_all_rounds(council: Session) -> None:
    first = _cards(council)[0]
    generation = current_of(first).generation
    last = Version.objects.bulk_create(
        Version(card=first, number=number, source="regenerate", generation=generation)
        for number in range(2, MAX_VERSIONS - 1)
    )[-1]
    Card.objects.filter(pk=first.pk).update(current=last)

    with pytest.raises(TooManyVersions):
        _debate(council, rounds=3)
    _debate(council, rounds=2)


def test_nobody_interferes_with_those_who_take_part(council: Session, alice: User) -> None:
    first, second, third = _cards(council)
    _debate(council, card_ids=[first.pk, second.pk])
    manual.answer(first, UNCHANGED)

    for action in (
        lambda: sessions.regenerate(user=alice, card_id=first.pk),
        lambda: sessions.restore(user=alice, card_id=first.pk, number=1),
        lambda: conversation.message_card(user=alice, card_id=first.pk, content="Sure?"),
    ):
        with pytest.raises(SessionBusy):
            action()
    sessions.regenerate(user=alice, card_id=third.pk)


def test_a_refused_debate_leaves_nothing(council: Session) -> None:
    before = log.types(council.pk)
    for options in ({"rounds": 9}, {"card_ids": _ids(council)[:1]}, {"card_ids": [uuid4()] * 2}):
        with pytest.raises(DomainError):
            _debate(council, **options)
    assert log.types(council.pk) == before
    assert not council.turns.filter(kind=Turn.Kind.DEBATE).exists()


def _debate(council: Session, **options: Any) -> Turn:
    return debates.debate(user=council.account, session_id=council.pk, **options)


def _position(
    card: Card, labels: dict[str, str], *, changed: bool = False, status: str = "completed"
) -> dict[str, Any]:
    return {
        "card_id": str(card.pk),
        "label": labels[str(card.pk)],
        "version": 2,
        "changed": changed,
        "status": status,
    }


def _is_as_before(card: Card) -> None:
    """The answer that it was to revise is told again, after the failure."""
    state = _state(card)
    made = state.version.generation
    assert (state.version.number, state.version.source, made.error) == (3, "restore", None)
    assert state.content == "Nobody knows."
    types = log.types(card.session_id)
    failed = types.index("card.failed")
    assert types[failed + 1 : failed + 4] == ["usage.updated", "card.restored", "card.delta"]
    deltas = log.data_of(card.session_id, "card.delta")
    assert [d["text"] for d in deltas if (d["card_id"], d["version"]) == (str(card.pk), 3)] == [
        "Nobody knows."
    ]


def _session(council: Session, activity: str, round_: int | None, rounds: int | None) -> None:
    """It says that it does this now."""
    council.refresh_from_db()
    assert (council.activity, council.round, council.rounds) == (activity, round_, rounds)
    assert council.status == (Status.RUNNING if activity else Status.COMPLETED)


def _cards(council: Session) -> list[Card]:
    return list(council.cards.filter(kind=Card.Kind.ANSWER).order_by("id"))


def _ids(council: Session) -> list[UUID]:
    return [card.pk for card in _cards(council)]


def _again(card: Card) -> Card:
    return get_card(card.session.account, card.pk)


def _version(card: Card) -> Version:
    return current_of(_again(card))


def _state(card: Card) -> CardState:
    return state_of(card.session.account, _again(card), with_text=True)


def _asked(card: Card) -> list[str]:
    """What the model is asked for the card's current version."""
    card = _again(card)
    return [message.text for message in messages_for(card.session, card, current_of(card))]
