"""What is written into an export while its rows change, or while it is not wanted any more."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts.models import User
from conversations.models import Conversation
from conversations.tests.rows import talk
from privacy.errors import ExportStopped
from privacy.tests.exporting import archive_of, rows_in
from tests.personas import new_user

pytestmark = pytest.mark.usefixtures("committed")


def elsewhere(act: Callable[[], object]) -> None:
    """Do something over a connection of its own."""

    def do() -> None:
        try:
            act()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(do).result()


def test_its_rows_are_all_of_one_moment() -> None:
    alice = new_user("alice")
    talk(alice, "Why is the sea blue?", "Because of the light.")
    talk(alice, "And the sky?", "For the same reason.")
    changes = [
        lambda: talk(alice, "A late question", "A late answer"),
        lambda: Conversation.objects.filter(account=alice).order_by("pk")[:1].get().delete(),
        lambda: User.objects.filter(pk=alice.pk).update(name="Somebody else"),
    ]

    def go_on() -> bool:
        if changes:
            elsewhere(changes.pop())
        return True

    archive = archive_of(alice, go_on)

    assert not changes
    [user] = rows_in(archive, "accounts.user")
    assert user["name"] == alice.name
    conversations = {row["id"] for row in rows_in(archive, "conversations.conversation")}
    messages = rows_in(archive, "conversations.message")
    assert len(conversations) == 2
    assert {row["conversation_id"] for row in messages} == conversations
    assert not [row for row in messages if "late" in row["content"]]


@pytest.mark.parametrize("after", [0, 1, 20])
def test_it_is_given_up_when_it_is_not_wanted_any_more(after: int) -> None:
    alice = new_user("alice")
    talk(alice, "Why is the sea blue?", "Because of the light.")
    asked = 0

    def go_on() -> bool:
        nonlocal asked
        asked += 1
        return asked <= after

    with pytest.raises(ExportStopped):
        archive_of(alice, go_on)
    assert asked == after + 1
