"""Messages to the work that writes a stream: numbered, bounded, read in order, handed back."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from accounts.models import User
from common.errors import NotFound
from events import inbox
from events.errors import InboxClosed, InboxFull
from events.models import Inbox, InboxMessage, Stream
from events.tests.streams import new_stream
from tests.lives import RolledBackLife, live_through
from tests.personas import new_user

pytestmark = pytest.mark.usefixtures("committed")


class Sender:
    """A user who writes to the inbox of a stream of her own."""

    def __init__(self, user: User | None = None) -> None:
        self.user = user or new_user("alice")
        self.stream_id = new_stream(self.user)
        inbox.open_inbox(stream_id=self.stream_id)

    @transaction.atomic
    def post(self, *bodies: str) -> list[int]:
        """The numbers of these messages."""
        return [
            inbox.post(stream_id=self.stream_id, sender=self.user, body=body).number
            for body in bodies
        ]

    def mark_read(self, up_to: int) -> None:
        inbox.mark_read(stream_id=self.stream_id, up_to=up_to)

    @transaction.atomic
    def close(self) -> list[str]:
        """The messages that are handed back."""
        return [message.body for message in inbox.close_inbox(stream_id=self.stream_id)]

    def unread(self) -> list[str]:
        """The messages that wait to be read."""
        state = inbox.read_all(self.stream_id)
        return [each.body for each in state.messages if each.number > state.read_number]


@pytest.fixture
def alice() -> Sender:
    return Sender()


def test_messages_are_numbered_and_read_in_order(alice: Sender) -> None:
    assert alice.post("Be brief.", "In French.") == [1, 2]
    assert alice.post("Now.") == [3]

    assert alice.unread() == ["Be brief.", "In French.", "Now."]


def test_a_message_that_was_marked_is_not_read_again(alice: Sender) -> None:
    alice.post("Be brief.", "In French.")

    alice.mark_read(1)
    alice.mark_read(1)
    alice.mark_read(0)

    assert alice.unread() == ["In French."]


def test_messages_of_others_are_read_in_their_own_streams(alice: Sender) -> None:
    bob = Sender(new_user("bob"))
    bob.post("Be long.")

    assert alice.unread() == []
    assert bob.unread() == ["Be long."]


def test_only_so_many_messages_wait(alice: Sender) -> None:
    alice.post(*["Hurry."] * inbox.MAX_UNREAD)

    with pytest.raises(InboxFull):
        alice.post("Hurry!")
    alice.mark_read(1)

    assert alice.post("Hurry!") == [inbox.MAX_UNREAD + 1]


def test_a_closed_inbox_hands_back_what_nobody_has_read_and_takes_no_more(alice: Sender) -> None:
    alice.post("Be brief.", "In French.", "Now.")
    alice.mark_read(1)

    assert alice.close() == ["In French.", "Now."]

    with pytest.raises(InboxClosed):
        alice.post("Wait!")
    assert alice.unread() == []
    assert alice.close() == []


def test_an_inbox_that_is_opened_again_continues(alice: Sender) -> None:
    alice.post("Be brief.")
    alice.close()

    inbox.open_inbox(stream_id=alice.stream_id)

    assert alice.post("Once more.") == [2]
    assert alice.unread() == ["Once more."]


def test_a_stream_without_an_inbox_takes_no_messages(alice: Sender) -> None:
    alice.stream_id = new_stream(alice.user)

    with pytest.raises(NotFound):
        alice.post("Is anybody there?")
    with pytest.raises(NotFound):
        alice.close()


@pytest.mark.parametrize("body", ["", "x" * (inbox.MAX_BODY + 1)], ids=["empty", "too long"])
def test_a_message_has_bounds(alice: Sender, body: str) -> None:
    with pytest.raises(ValueError, match="MAX_BODY"):
        alice.post(body)

    assert alice.post("x" * inbox.MAX_BODY) == [1]


def test_messages_that_come_at_once_have_their_own_numbers(alice: Sender) -> None:
    def post(body: str) -> list[int]:
        try:
            return alice.post(body)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        numbers = list(threads.map(post, "abcdefgh"))

    assert sorted(numbers) == [[number] for number in range(1, 9)]


def test_a_message_outlives_its_sender(alice: Sender) -> None:
    bob = new_user("bob")
    with transaction.atomic():
        inbox.post(stream_id=alice.stream_id, sender=bob, body="Be brief.")

    bob.delete()

    assert alice.unread() == ["Be brief."]


def test_messages_are_deleted_with_their_stream(alice: Sender) -> None:
    alice.post("Be brief.")

    Stream.objects.get(pk=alice.stream_id).delete()

    assert not InboxMessage.objects.filter(inbox=alice.stream_id).exists()


class Life(RolledBackLife):
    """Whatever is done, in any order: numbers are dense, and each message is either read once, in
    order, or handed back."""

    @initialize()
    def begin(self) -> None:
        self.alice = Sender()
        self.posted: list[int] = []
        self.used: list[int] = []
        self.is_open = True

    @rule()
    def post(self) -> None:
        can_post = self.is_open and len(self.posted) - len(self.used) < inbox.MAX_UNREAD
        try:
            self.posted += self.alice.post("Be brief.")
            assert can_post
        except (InboxClosed, InboxFull):
            assert not can_post

    @rule(count=st.integers(min_value=0, max_value=3))
    def use(self, count: int) -> None:
        unread = self.posted[len(self.used) :][:count]
        if unread:
            self.alice.mark_read(unread[-1])
            self.used += unread

    @rule()
    def use_late(self) -> None:
        """A reader that was overtaken."""
        if self.used:
            self.alice.mark_read(self.used[0])

    @rule()
    def close(self) -> None:
        handed_back = self.alice.close()
        assert len(handed_back) == len(self.posted) - len(self.used)
        self.used, self.is_open = list(self.posted), False

    @rule()
    def open(self) -> None:
        inbox.open_inbox(stream_id=self.alice.stream_id)
        self.is_open = True

    @invariant()
    def the_rows_are_as_the_model_says(self) -> None:
        row = Inbox.objects.get(pk=self.alice.stream_id)
        assert (row.is_open, row.last_number, row.read_number) == (
            self.is_open,
            len(self.posted),
            len(self.used),
        )
        numbers = InboxMessage.objects.filter(inbox=row).order_by("number")
        assert list(numbers.values_list("number", flat=True)) == self.posted
        assert self.posted == list(range(1, len(self.posted) + 1))


def test_lives_of_inboxes() -> None:
    live_through(Life, lives=20, steps=30)
