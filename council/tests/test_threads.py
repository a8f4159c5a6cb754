"""The conversation of a card: what its model is asked, and what is seen of it."""

import pytest

from accounts.models import User
from ai.inference.errors import UpstreamFailed
from council.models import Card, Session
from council.selectors.cards import current_of, get_card
from council.selectors.prompts import messages_for
from council.selectors.threads import thread_of
from council.services import conversation, sessions
from council.tests import manual
from council.tests.owner import BALANCE_ONLY, IN_PLAN
from tests.personas import new_user

QUESTION = "How deep is the sea?"

Lines = list[tuple[str, str]]


@pytest.fixture
def alice(db: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


@pytest.fixture
def council(alice: User) -> Session:
    return sessions.start(user=alice, prompt=QUESTION, models=[IN_PLAN, BALANCE_ONLY])


@pytest.fixture
def deep(council: Session) -> Card:
    """A card that has said "Deep."."""
    return _answered(council, 0, "Deep.")


def test_a_card_is_asked_the_question_alone(council: Session) -> None:
    _answered(council, 0, "Deep.")

    assert _asked(_card(council, 1)) == [("user", QUESTION)]


def test_the_system_text_comes_first(alice: User) -> None:
    council = sessions.start(user=alice, prompt=QUESTION, models=[IN_PLAN], system="Be brief.")

    assert _asked(_card(council, 0)) == [("system", "Be brief."), ("user", QUESTION)]


def test_an_added_card_may_have_a_question_of_its_own(council: Session, alice: User) -> None:
    card = sessions.add_card(
        user=alice, session_id=council.pk, model=IN_PLAN, prompt="How wide is it?"
    )

    assert _asked(card) == [("user", "How wide is it?")]


def test_a_message_is_asked_after_what_was_said_before(deep: Card, alice: User) -> None:
    conversation.message_card(user=alice, card_id=deep.pk, content="In metres?")

    assert _asked(deep) == [
        ("user", QUESTION),
        ("assistant", "Deep."),
        ("user", "In metres?"),
    ]


def test_a_chat_shows_each_card_its_own_conversation_alone(council: Session, alice: User) -> None:
    deep = _answered(council, 0, "Deep.")
    shallow = _answered(council, 1, "Shallow.")

    conversation.chat(user=alice, session_id=council.pk, content="In metres?")

    for card, answer in ((deep, "Deep."), (shallow, "Shallow.")):
        assert _asked(card) == [
            ("user", QUESTION),
            ("assistant", answer),
            ("user", "In metres?"),
        ]


def test_a_chat_passes_over_a_card_without_an_answer(council: Session, alice: User) -> None:
    deep = _answered(council, 0, "Deep.")
    silent = _card(council, 1)
    manual.begin(silent).release(UpstreamFailed())

    message = conversation.chat(user=alice, session_id=council.pk, content="In metres?")

    assert [g.card for g in message.turn.generations.all()] == [deep]


def test_regenerating_a_reply_asks_the_same_again_with_the_instructions(
    deep: Card, alice: User
) -> None:
    conversation.message_card(user=alice, card_id=deep.pk, content="In metres?")
    manual.answer(deep, "4,000.")

    sessions.regenerate(user=alice, card_id=deep.pk, instructions="On average.")

    assert _asked(deep) == [
        ("user", QUESTION),
        ("assistant", "Deep."),
        ("user", "In metres?\n\nOn average."),
    ]


def test_the_thread_goes_on_from_a_regenerated_answer(deep: Card, alice: User) -> None:
    sessions.regenerate(user=alice, card_id=deep.pk, model=BALANCE_ONLY, instructions="Be exact.")
    manual.answer(deep, "Very deep.")

    conversation.message_card(user=alice, card_id=deep.pk, content="In metres?")
    manual.answer(deep, "3,688.")

    assert _seen(deep) == [
        ("user", QUESTION),
        ("assistant", "Very deep."),
        ("user", "In metres?"),
        ("assistant", "3,688."),
    ]


def test_a_failed_reply_can_be_regenerated_in_its_place(deep: Card, alice: User) -> None:
    conversation.message_card(user=alice, card_id=deep.pk, content="In metres?")
    manual.begin(deep).release(UpstreamFailed())

    sessions.regenerate(user=alice, card_id=deep.pk)

    assert _asked(deep) == [
        ("user", QUESTION),
        ("assistant", "Deep."),
        ("user", "In metres?"),
    ]


def test_a_restored_version_brings_its_thread_back(deep: Card, alice: User) -> None:
    conversation.message_card(user=alice, card_id=deep.pk, content="In metres?")
    manual.answer(deep, "4,000.")

    sessions.restore(user=alice, card_id=deep.pk, number=1)
    assert _seen(deep) == [("user", QUESTION), ("assistant", "Deep.")]

    conversation.message_card(user=alice, card_id=deep.pk, content="In feet?")
    assert _asked(deep) == [
        ("user", QUESTION),
        ("assistant", "Deep."),
        ("user", "In feet?"),
    ]


def test_a_restored_reply_is_still_the_reply_to_its_message(deep: Card, alice: User) -> None:
    conversation.message_card(user=alice, card_id=deep.pk, content="In metres?")
    manual.answer(deep, "4,000.")
    sessions.regenerate(user=alice, card_id=deep.pk)
    manual.answer(deep, "5,000.")

    sessions.restore(user=alice, card_id=deep.pk, number=2)
    sessions.regenerate(user=alice, card_id=deep.pk)

    assert _asked(deep)[-1] == ("user", "In metres?")
    assert len(_asked(deep)) == 3


def test_what_was_told_so_far_is_seen_of_a_running_answer(council: Session) -> None:
    card = _card(council, 0)
    call = manual.begin(card)
    call.say("Deep")
    call.say(" 🌊", offset=4)

    assert _seen(card)[-1] == ("assistant", "Deep 🌊")


def _answered(council: Session, place: int, text: str) -> Card:
    card = _card(council, place)
    manual.answer(card, text)
    return card


def _card(council: Session, place: int) -> Card:
    return council.cards.order_by("id")[place]


def _asked(card: Card) -> Lines:
    """What the model is asked for the card's current version."""
    card = _again(card)
    messages = messages_for(card.session, card, current_of(card))
    return [(message.role, message.text) for message in messages]


def _seen(card: Card) -> Lines:
    return [(message.role, message.content) for message in thread_of(_again(card))]


def _again(card: Card) -> Card:
    return get_card(card.session.account, card.pk)
