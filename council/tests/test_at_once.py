"""Acts on one council at the same moment: one after the other, and each knows what went before."""

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.models import User
from billing.tests import bank
from common.errors import DomainError, NotFound
from council.errors import (
    CallCancelled,
    CardRunning,
    NotEnoughCards,
    NothingToAnswer,
    SessionBusy,
    TooManyCards,
)
from council.models import Card, Generation, Session, Status
from council.sections import UNCHANGED
from council.selectors.sessions import SessionState, get_session
from council.serializers import SessionSerializer
from council.services import conversation, debates, merges, sessions
from council.tests import hand
from council.tests.owner import BALANCE_ONLY, COUNCIL
from council.types import MergeMode
from events.selectors import read_page
from tests.follow import cut, wait_until
from tests.locks import wait_until_blocked
from tests.personas import new_user

pytestmark = pytest.mark.usefixtures("committed")

Act = Callable[[], object]

# Why an act of a storm may be refused.
REFUSALS = {
    CardRunning,
    NotEnoughCards,
    NotFound,
    NothingToAnswer,
    SessionBusy,
    TooManyCards,
}


@pytest.fixture
def alice(committed: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


def test_one_of_two_regenerations_of_a_card_wins(alice: User) -> None:
    council, [call] = _begin(alice)
    call.settle("Deep.")
    card = council.cards.get()

    def regenerate() -> object:
        return sessions.regenerate(user=alice, card_id=card.pk)

    first, second = _in_turn(council, regenerate, regenerate)

    assert isinstance(first, Card)
    assert isinstance(second, CardRunning)
    assert card.versions.count() == 2


def test_one_of_a_message_and_a_regeneration_wins(alice: User) -> None:
    council, [call] = _begin(alice)
    call.settle("Deep.")
    card = council.cards.get()

    _, refused = _in_turn(
        council,
        lambda: conversation.message_card(user=alice, card_id=card.pk, content="Really?"),
        lambda: sessions.regenerate(user=alice, card_id=card.pk),
    )

    assert isinstance(refused, CardRunning)
    assert card.versions.count() == 2


def test_a_restoration_waits_for_no_running_card(alice: User) -> None:
    council, [call] = _begin(alice)
    call.settle("Deep.")
    card = council.cards.get()

    _, refused = _in_turn(
        council,
        lambda: sessions.regenerate(user=alice, card_id=card.pk),
        lambda: sessions.restore(user=alice, card_id=card.pk, number=1),
    )

    assert isinstance(refused, CardRunning)


def test_one_of_two_chats_wins(alice: User) -> None:
    council, calls = _begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")

    def chat() -> object:
        return conversation.chat(user=alice, session_id=council.pk, content="Really?")

    _, refused = _in_turn(council, chat, chat)

    assert isinstance(refused, SessionBusy)
    assert council.messages.count() == 1


def test_a_chat_and_a_message_to_one_of_its_cards_exclude_each_other(alice: User) -> None:
    council, calls = _begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")
    card = council.cards.order_by("id")[0]

    _, refused = _in_turn(
        council,
        lambda: conversation.message_card(user=alice, card_id=card.pk, content="Really?"),
        lambda: conversation.chat(user=alice, session_id=council.pk, content="Really?"),
    )

    assert isinstance(refused, CardRunning)


def test_a_chat_and_a_debate_exclude_each_other(alice: User) -> None:
    council, calls = _begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")

    def chat() -> object:
        return conversation.chat(user=alice, session_id=council.pk, content="Really?")

    def debate() -> object:
        return debates.debate(user=alice, session_id=council.pk)

    _, refused = _in_turn(council, chat, debate)
    assert isinstance(refused, SessionBusy)

    _finish_all(council)
    _, refused = _in_turn(council, debate, chat)
    assert isinstance(refused, SessionBusy)


def test_a_card_in_a_debate_is_not_regenerated_beside_it(alice: User) -> None:
    council, calls = _begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")
    card = council.cards.order_by("id")[0]

    _, refused = _in_turn(
        council,
        lambda: debates.debate(user=alice, session_id=council.pk),
        lambda: sessions.regenerate(user=alice, card_id=card.pk),
    )

    assert isinstance(refused, CardRunning)


def test_a_card_that_was_just_removed_is_not_merged(alice: User) -> None:
    council, calls = _begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")
    first, second = council.cards.order_by("id")

    _, refused = _in_turn(
        council,
        lambda: sessions.remove(user=alice, card_id=first.pk),
        lambda: merges.merge(
            user=alice,
            session_id=council.pk,
            mode=MergeMode.FUSE,
            card_ids=[first.pk, second.pk],
        ),
    )

    assert isinstance(refused, NotFound)


def test_a_round_whose_last_answers_come_together_is_completed_once(alice: User) -> None:
    council, calls = _begin(alice, cards=3)
    for call in calls:
        call.settle("Deep.")
    with transaction.atomic():
        debates.debate(user=alice, session_id=council.pk)
        revising = [hand.begin(card) for card in council.cards.all()]

    _in_turn(council, *(lambda call=call: call.settle(UNCHANGED) for call in revising))

    told = [event["type"] for event in _log(alice, council)]
    assert told.count("debate.round.completed") == 1
    assert told[-2:] == ["debate.completed", "session.completed"]


def test_no_more_cards_are_added_than_there_is_room_for(alice: User) -> None:
    council, calls = _begin(alice, cards=7)
    for call in calls:
        call.settle("Deep.")

    def add() -> object:
        return sessions.add_card(user=alice, session_id=council.pk, model=BALANCE_ONLY)

    added, *refused = _in_turn(council, add, add, add)

    assert isinstance(added, Card)
    assert [type(refusal) for refusal in refused] == [TooManyCards] * 2
    assert council.cards.count() == 8


def test_a_card_is_removed_once(alice: User) -> None:
    council, [_] = _begin(alice)
    card = council.cards.get()

    def remove() -> object:
        return sessions.remove(user=alice, card_id=card.pk)

    _, refused = _in_turn(council, remove, remove)

    assert isinstance(refused, NotFound)


def test_a_card_that_ends_and_is_then_removed_is_told_both(alice: User) -> None:
    council, [call] = _begin(alice)
    card = council.cards.get()

    _in_turn(
        council,
        lambda: call.settle("Deep."),
        lambda: sessions.remove(user=alice, card_id=card.pk),
    )

    told = [event["type"] for event in _log(alice, council)]
    assert told[-4:] == ["card.completed", "usage.updated", "session.completed", "card.removed"]
    assert bank.charge_of(call.job_id).status == "settled"


def test_a_card_that_is_removed_and_then_ends_costs_what_it_produced(alice: User) -> None:
    council, [call] = _begin(alice)
    card = council.cards.get()

    _in_turn(
        council,
        lambda: sessions.remove(user=alice, card_id=card.pk),
        lambda: call.settle("Deep.", CallCancelled()),
    )

    told = [event["type"] for event in _log(alice, council)]
    assert told[-3:] == ["card.removed", "usage.updated", "session.completed"]
    assert bank.charge_of(call.job_id).status == "settled"


@pytest.mark.parametrize("who_is_first", ["worker", "sweeper"])
def test_a_call_that_ends_while_it_is_abandoned_ends_once(alice: User, who_is_first: str) -> None:
    council, [call] = _begin(alice)
    call.say("Deep")
    call.save(cost=3000)
    acts: list[Act] = [lambda: call.settle("Deep."), call.abandon]
    if who_is_first == "sweeper":
        acts.reverse()

    # The wallet comes before the council: who has it goes first.
    _in_turn(council, *acts)

    told = [event["type"] for event in _log(alice, council)]
    ends = {"worker": "card.completed", "sweeper": "card.failed"}
    assert [kind for kind in told if kind in ends.values()] == [ends[who_is_first]]
    charge = bank.charge_of(call.job_id)
    cost = {"worker": hand.COST, "sweeper": 3000}[who_is_first]
    assert (charge.cost, charge.charge_balance) == (cost, 2 * cost)


def test_the_council_is_complete_once_when_all_cards_end_together(alice: User) -> None:
    council, calls = _begin(alice, cards=5)

    _in_turn(council, *(lambda call=call: call.settle("Deep.") for call in calls))

    told = [event["type"] for event in _log(alice, council)]
    assert told.count("card.completed") == 5
    assert told[-1] == "session.completed"
    assert told.count("session.completed") == 1


def test_a_picture_is_of_one_moment(alice: User) -> None:
    council, [call] = _begin(alice)
    call.say("Deep")

    with bank.other_connection() as holder, ThreadPoolExecutor(1) as thread:
        with holder.transaction():
            # The council and the end of its log have been read by then, the text has not.
            holder.execute("LOCK TABLE billing_charge")
            picture = thread.submit(_outcome, lambda: get_session(alice, council.pk))
            wait_until_blocked(holder)
            call.say(", very deep", offset=4)
        seen = picture.result(timeout=20)

    assert isinstance(seen, SessionState)
    assert seen.cards[0].content == "Deep"
    assert seen.last_seq == len(_log(alice, council)) - 1


def test_a_storm_leaves_a_council_that_its_events_explain(alice: User) -> None:
    council, calls = _begin(alice, cards=4)
    for call in calls:
        call.settle("Deep.")

    with ThreadPoolExecutor(6) as threads:
        storms = [threads.submit(_act_at_random, council, alice, seed) for seed in range(6)]
        refusals = {refusal for storm in storms for refusal in storm.result()}

    assert refusals <= REFUSALS
    wait_until(lambda: _is_idle(council))
    seen = json.loads(json.dumps(SessionSerializer(get_session(alice, council.pk)).data))
    assert seen["status"] in (Status.COMPLETED, Status.FAILED)
    assert COUNCIL.draw(COUNCIL.nothing, _frames(alice, council)) == seen
    assert [event["seq"] for event in _log(alice, council)] == list(range(1, seen["last_seq"] + 1))


# --- Acting ---------------------------------------------------------------------------------------


def _begin(user: User, *, cards: int = 1) -> tuple[Session, list[hand.Call]]:
    """A council whose calls have come as far as to their providers."""
    with transaction.atomic():
        council = sessions.start(user=user, prompt="How deep?", models=[BALANCE_ONLY] * cards)
        calls = [hand.begin(card) for card in council.cards.order_by("id")]
    return council, calls


def _in_turn(council: Session, *acts: Act) -> list[object]:
    """Let the acts begin while the council is held, each behind the one before, and let go.
    Returns what each brought, or was refused with."""
    with bank.other_connection() as holder, ThreadPoolExecutor(len(acts)) as threads:
        results = []
        with holder.transaction():
            holder.execute("SELECT FROM council_session WHERE id = %s FOR UPDATE", (council.pk,))
            for number, act in enumerate(acts, 1):
                results.append(threads.submit(_outcome, act))
                wait_until_blocked(holder, number)
        return [result.result(timeout=20) for result in results]


def _outcome(act: Act) -> object:
    """With a connection of its own."""
    try:
        return act()
    except DomainError as refusal:
        return refusal
    finally:
        connection.close()


def _act_at_random(council: Session, user: User, seed: int) -> list[type[DomainError]]:
    """A few acts, and what they were refused with."""
    rng = random.Random(seed)  # noqa: S311 - a storm that can be repeated
    outcomes = [_outcome(lambda: _any_act(council, user, rng)) for _ in range(12)]
    return [type(outcome) for outcome in outcomes if isinstance(outcome, DomainError)]


def _any_act(council: Session, user: User, rng: random.Random) -> object:
    card_id = rng.choice([*council.cards.values_list("pk", flat=True)])
    acts: list[Act] = [
        lambda: sessions.add_card(user=user, session_id=council.pk, model=BALANCE_ONLY),
        lambda: sessions.regenerate(user=user, card_id=card_id),
        lambda: sessions.restore(user=user, card_id=card_id, number=1),
        lambda: conversation.message_card(user=user, card_id=card_id, content="Really?"),
        lambda: conversation.chat(user=user, session_id=council.pk, content="Really?"),
        lambda: merges.merge(user=user, session_id=council.pk, mode=MergeMode.FUSE),
        lambda: debates.debate(user=user, session_id=council.pk, rounds=2),
        lambda: sessions.remove(user=user, card_id=card_id),
        lambda: _finish_all(council),
        lambda: _finish_all(council),
        lambda: _finish_all(council),
    ]
    return rng.choice(acts)()


def _finish_all(council: Session) -> None:
    """Do whatever waits, as workers would."""
    waiting = Generation.objects.filter(session=council, status=Status.QUEUED)
    for job_id in waiting.values_list("pk", flat=True):
        if call := hand.claim(job_id):
            _run(call)


def _is_idle(council: Session) -> bool:
    _finish_all(council)
    council.refresh_from_db()
    return council.status != Status.RUNNING


def _run(call: hand.Call) -> None:
    """As the worker's handler does."""
    try:
        call.prepare()
    except CallCancelled as failure:
        call.give_up(failure)
    else:
        call.hold()
        call.settle("Deep.")


# --- Looking --------------------------------------------------------------------------------------


def _frames(user: User, council: Session) -> list[str]:
    page = read_page(
        account=user,
        kind="council",
        stream_id=council.pk,
        after_seq=0,
        limit=100_000,
        max_bytes=10**9,
    )
    return cut(page.body)


def _log(user: User, council: Session) -> list[dict[str, Any]]:
    return [json.loads(frame) for frame in _frames(user, council)]
