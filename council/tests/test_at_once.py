"""Acts on one council at the same moment: one after the other, and each knows what went before."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from accounts.models import User
from ai.inference.errors import CallCancelled
from billing.tests import bank
from common.errors import NotFound
from council.errors import CardRunning, SessionBusy, TooManyCards
from council.models import Card, Generation, Status, Turn
from council.sections import UNCHANGED
from council.selectors.sessions import SessionState, get_session
from council.services import conversation, debates, merges, sessions
from council.tests import log, manual
from council.tests.owner import BALANCE_ONLY
from council.tests.races import Act, begin, in_turn, outcome
from council.types import MergeMode
from tests.follow import wait_until
from tests.locks import wait_until_blocked
from tests.personas import new_user

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture
def alice(committed: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


def test_one_of_two_regenerations_of_a_card_wins(alice: User) -> None:
    council, [call] = begin(alice)
    call.settle("Deep.")
    card = council.cards.get()

    def regenerate() -> object:
        return sessions.regenerate(user=alice, card_id=card.pk)

    first, second = in_turn(council, regenerate, regenerate)

    assert isinstance(first, Card)
    assert isinstance(second, CardRunning)
    assert card.versions.count() == 2


def test_one_of_a_message_and_a_regeneration_wins(alice: User) -> None:
    council, [call] = begin(alice)
    call.settle("Deep.")
    card = council.cards.get()

    _, refused = in_turn(
        council,
        lambda: conversation.message_card(user=alice, card_id=card.pk, content="Really?"),
        lambda: sessions.regenerate(user=alice, card_id=card.pk),
    )

    assert isinstance(refused, CardRunning)
    assert card.versions.count() == 2


def test_a_restoration_waits_for_no_running_card(alice: User) -> None:
    council, [call] = begin(alice)
    call.settle("Deep.")
    card = council.cards.get()

    _, refused = in_turn(
        council,
        lambda: sessions.regenerate(user=alice, card_id=card.pk),
        lambda: sessions.restore(user=alice, card_id=card.pk, number=1),
    )

    assert isinstance(refused, CardRunning)


def test_one_of_two_chats_wins(alice: User) -> None:
    council, calls = begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")

    def chat() -> object:
        return conversation.chat(user=alice, session_id=council.pk, content="Really?")

    _, refused = in_turn(council, chat, chat)

    assert isinstance(refused, SessionBusy)
    assert council.messages.count() == 1


def test_a_card_that_is_asked_alone_just_before_a_chat_is_passed_over(alice: User) -> None:
    council, calls = begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")
    card, other = council.cards.order_by("id")

    in_turn(
        council,
        lambda: conversation.message_card(user=alice, card_id=card.pk, content="Really?"),
        lambda: conversation.chat(user=alice, session_id=council.pk, content="Really?"),
    )

    asked = Generation.objects.filter(session=council, turn__kind=Turn.Kind.CHAT)
    assert [generation.card for generation in asked] == [other]
    assert list(card.versions.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_a_chat_and_a_debate_exclude_each_other(alice: User) -> None:
    council, calls = begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")

    def chat() -> object:
        return conversation.chat(user=alice, session_id=council.pk, content="Really?")

    def debate() -> object:
        return debates.debate(user=alice, session_id=council.pk)

    _, refused = in_turn(council, chat, debate)
    assert isinstance(refused, SessionBusy)

    manual.finish_all(council)
    # A worker of another test may have taken some of its calls.
    wait_until(lambda: not council.turns.filter(status=Status.RUNNING).exists())
    _, refused = in_turn(council, debate, chat)
    assert isinstance(refused, SessionBusy)


def test_a_card_in_a_debate_is_not_regenerated_beside_it(alice: User) -> None:
    council, calls = begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")
    card = council.cards.order_by("id")[0]

    _, refused = in_turn(
        council,
        lambda: debates.debate(user=alice, session_id=council.pk),
        lambda: sessions.regenerate(user=alice, card_id=card.pk),
    )

    assert isinstance(refused, CardRunning)


def test_a_card_that_was_just_removed_is_not_merged(alice: User) -> None:
    council, calls = begin(alice, cards=2)
    for call in calls:
        call.settle("Deep.")
    first, second = council.cards.order_by("id")

    _, refused = in_turn(
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
    council, calls = begin(alice, cards=3)
    for call in calls:
        call.settle("Deep.")
    with transaction.atomic():
        debates.debate(user=alice, session_id=council.pk)
        revising = [manual.begin(card) for card in council.cards.all()]

    in_turn(council, *(lambda call=call: call.settle(UNCHANGED) for call in revising))

    types = log.types(council.pk)
    assert types.count("debate.round.completed") == 1
    assert types[-2:] == ["debate.completed", "session.completed"]


def test_no_more_cards_are_added_than_there_is_room_for(alice: User) -> None:
    council, calls = begin(alice, cards=7)
    for call in calls:
        call.settle("Deep.")

    def add() -> object:
        return sessions.add_card(user=alice, session_id=council.pk, model=BALANCE_ONLY)

    added, *refused = in_turn(council, add, add, add)

    assert isinstance(added, Card)
    assert [type(refusal) for refusal in refused] == [TooManyCards] * 2
    assert council.cards.count() == 8


def test_a_card_is_removed_once(alice: User) -> None:
    council, [call] = begin(alice)
    card = council.cards.get()

    def remove() -> object:
        return sessions.remove(user=alice, card_id=card.pk)

    _, refused = in_turn(council, remove, remove)

    assert isinstance(refused, NotFound)
    call.release(CallCancelled())


def test_a_card_that_ends_and_is_then_removed_is_told_both(alice: User) -> None:
    council, [call] = begin(alice)
    card = council.cards.get()

    in_turn(
        council,
        lambda: call.settle("Deep."),
        lambda: sessions.remove(user=alice, card_id=card.pk),
    )

    types = log.types(council.pk)
    assert types[-5:-2] == ["card.completed", "usage.updated", "session.completed"]
    assert types[-2:] == ["card.removed", "session.updated"]
    assert bank.charge_of(call.job_id).status == "settled"


def test_a_card_that_is_removed_and_then_ends_costs_what_it_produced(alice: User) -> None:
    council, [call] = begin(alice)
    card = council.cards.get()

    in_turn(
        council,
        lambda: sessions.remove(user=alice, card_id=card.pk),
        lambda: call.settle("Deep.", CallCancelled()),
    )

    types = log.types(council.pk)
    assert types[-3:] == ["card.removed", "usage.updated", "session.updated"]
    assert bank.charge_of(call.job_id).status == "settled"


@pytest.mark.parametrize("who_is_first", ["worker", "sweeper"])
def test_a_call_that_ends_while_it_is_ended_as_lost_ends_once(
    alice: User, who_is_first: str
) -> None:
    council, [call] = begin(alice)
    call.say("Deep")
    call.save(cost=3000)
    acts: list[Act] = [lambda: call.settle("Deep."), call.on_lost]
    if who_is_first == "sweeper":
        acts.reverse()

    # The wallet comes before the council: who has it goes first.
    in_turn(council, *acts)

    types = log.types(council.pk)
    ends = {"worker": "card.completed", "sweeper": "card.failed"}
    assert [kind for kind in types if kind in ends.values()] == [ends[who_is_first]]
    charge = bank.charge_of(call.job_id)
    cost = {"worker": manual.COST, "sweeper": 3000}[who_is_first]
    assert (charge.cost, charge.charge_balance) == (cost, 2 * cost)


def test_the_council_is_complete_once_when_all_cards_end_together(alice: User) -> None:
    council, calls = begin(alice, cards=5)

    in_turn(council, *(lambda call=call: call.settle("Deep.") for call in calls))

    types = log.types(council.pk)
    assert types.count("card.completed") == 5
    assert types[-1] == "session.completed"
    assert types.count("session.completed") == 1


def test_a_picture_is_of_one_moment(alice: User) -> None:
    council, [call] = begin(alice)
    call.say("Deep")

    with bank.other_connection() as holder, ThreadPoolExecutor(1) as thread:
        with holder.transaction():
            # The council and the end of its log have been read by then, the text has not.
            holder.execute("LOCK TABLE billing_charge")
            picture = thread.submit(outcome, lambda: get_session(alice, council.pk))
            wait_until_blocked(holder)
            call.say(", very deep", offset=4)
        seen = picture.result(timeout=20)

    assert isinstance(seen, SessionState)
    assert seen.cards[0].content == "Deep"
    assert seen.last_seq == len(log.types(council.pk)) - 1
    call.settle("Deep, very deep.")
