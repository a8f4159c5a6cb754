"""Members are told of shared spaces, and of the conversations in them, in their own streams."""

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from billing.tests.web_app import client_of
from conversations.models import Conversation, Space
from conversations.tests import manual
from conversations.tests.rows import talk
from conversations.tests.sharers import new_shared_row, put_together
from events.tests.streams import user_events
from tests.personas import new_user

pytestmark = pytest.mark.usefixtures("providers")

LIST, SPACES = "/api/conversations", "/api/spaces"


class Trio:
    """Alice and bob in one team, charlie in none, and a space of alice's."""

    def __init__(self, shared: str | None) -> None:
        self.alice, self.bob, self.charlie = (
            new_user(name, plan="max", balance_usd=5) for name in ("alice", "bob", "charlie")
        )
        put_together(self.alice, self.bob)
        self.space, self.sea = new_shared_row(self.alice, "read", "How deep?", "Very.")
        Space.objects.filter(pk=self.space.pk).update(shared=shared)
        self.client: APIClient = client_of(self.alice)

    def change(self, path: str, **body: object) -> None:
        answer = self.client.patch(path, body, format="json")
        assert answer.status_code == 200, answer.content

    @property
    def path(self) -> str:
        return f"{LIST}/{self.sea.pk}"

    @property
    def space_path(self) -> str:
        return f"{SPACES}/{self.space.pk}"


@pytest.fixture
def trio(committed: None) -> Trio:
    return Trio("read")


def kinds(user: User) -> list[str]:
    return [kind for kind, _ in user_events(user)]


def test_an_opened_space_is_told_to_each_as_they_see_it(committed: None) -> None:
    trio = Trio(None)
    trio.change(trio.space_path, shared="write")
    [(kind, mine)] = user_events(trio.alice)
    [(_, theirs)] = user_events(trio.bob)
    assert kind == "space.updated"
    assert (mine["space"]["access"], theirs["space"]["access"]) == ("owner", "write")
    [row] = client_of(trio.bob).get(SPACES).json()
    del row["instructions"], row["conversations"]
    assert theirs == {"space": row}
    assert kinds(trio.charlie) == []


def test_a_space_of_one_s_own_is_told_to_nobody_else(committed: None) -> None:
    trio = Trio(None)
    trio.change(trio.space_path, name="Lake")
    trio.change(trio.path, title="Lake")
    assert kinds(trio.alice) == ["space.updated", "conversation.updated"]
    assert kinds(trio.bob) == []


def test_a_space_that_is_taken_back_or_deleted_is_gone(trio: Trio) -> None:
    trio.change(trio.space_path, shared=None)
    trio.change(trio.space_path, shared="read")
    assert trio.client.delete(trio.space_path).status_code == 204
    gone = ("space.deleted", {"space_id": str(trio.space.pk)})
    told = user_events(trio.bob)
    assert (told[0], told[2]) == (gone, gone)
    assert kinds(trio.alice) == ["space.updated", "space.updated", "space.deleted"]


def test_a_conversation_is_told_with_the_access_of_each(trio: Trio) -> None:
    trio.change(trio.path, title="Lake")
    [(kind, mine)] = user_events(trio.alice)
    [(_, theirs)] = user_events(trio.bob)
    assert kind == "conversation.updated"
    assert theirs["conversation"] == {**mine["conversation"], "access": "read"}
    [row] = client_of(trio.bob).get(LIST, {"space_id": str(trio.space.pk)}).json()
    del row["match"]
    assert theirs["conversation"] == row


def test_a_new_conversation_in_it_is_told(trio: Trio) -> None:
    body = {"space_id": str(trio.space.pk)}
    assert trio.client.post(LIST, body, format="json").status_code == 201
    assert kinds(trio.bob) == kinds(trio.alice) == ["conversation.created"]


def test_a_conversation_that_is_moved_comes_and_goes(trio: Trio) -> None:
    own = talk(trio.alice, "Mine")
    trio.change(f"{LIST}/{own.pk}", space_id=str(trio.space.pk))
    trio.change(f"{LIST}/{own.pk}", space_id=None)
    assert kinds(trio.bob) == ["conversation.updated", "conversation.deleted"]
    assert kinds(trio.alice) == ["conversation.updated", "conversation.updated"]


def test_deleted_conversations_are_told_to_who_has_seen_them(trio: Trio) -> None:
    own = talk(trio.alice, "Mine")
    ids = [str(trio.sea.pk), str(own.pk)]
    trio.client.post(f"{LIST}/delete", {"ids": ids}, format="json")
    gone = [("conversation.deleted", {"conversation_id": each}) for each in ids]
    assert user_events(trio.bob) == gone[:1]
    assert user_events(trio.alice) == gone


@pytest.mark.parametrize("asker", ["alice", "bob"])
def test_a_reply_is_told_to_all_whoever_has_asked(committed: None, asker: str) -> None:
    trio = Trio("write")
    conversation = Conversation.objects.get(pk=trio.sea.pk)
    call = manual.begin(getattr(trio, asker), conversation)
    call.settle("Very.")
    told = user_events(trio.alice)
    assert [data["status"] for _, data in told] == ["running", "completed"]
    assert {kind for kind, _ in told} == {"conversation.replied"}
    assert user_events(trio.bob) == told
    assert kinds(trio.charlie) == []


def test_who_was_removed_is_not_told_how_the_reply_ends(committed: None) -> None:
    trio = Trio("write")
    call = manual.begin(trio.bob, trio.sea)
    trio.bob.membership.delete()
    call.settle("Very.")
    assert kinds(trio.bob) == ["conversation.replied"]
    assert kinds(trio.alice) == ["conversation.replied", "conversation.replied"]
