"""Every endpoint of conversations and spaces, and everybody who may ask: the owner of a shared
space, a member who writes, one who reads, one who has left, and a stranger."""

from typing import Any, NamedTuple

import pytest

from conftest import Persona
from conversations.models import Conversation, Feedback, Share, Space
from conversations.tests import test_ownership
from conversations.tests.rows import ASSISTANT
from conversations.tests.sharers import leave, new_shared, share, team_of
from conversations.tests.test_ownership import CONVERSATION, MESSAGE, SPACE, send
from tests.documents import assert_same

LIST = "/api/conversations"
IN_SPACE = f"{LIST}?space_id={{space_id}}"


class Case(NamedTuple):
    """A request, and what owner, writer and reader are answered. All others get 404. `named` is
    what docs/api/teams.md calls it."""

    method: str
    path: str
    body: dict[str, Any]
    owner: int
    writer: int | str
    reader: int | str
    named: str


READ, OWNS = "read_only", "owner_only"
NO_MODEL = {"model": "no such model"}
NEW = {"content": "Why?", **NO_MODEL}
# A 422 comes after the check of who asks.
CASES = [
    Case("GET", CONVERSATION, {}, 200, 200, 200, "its conversations"),
    Case("PATCH", CONVERSATION, {"title": "Lake"}, 200, 200, READ, "rename"),
    Case(
        "PATCH",
        CONVERSATION,
        {"active_leaf_id": "{message_id}"},
        200,
        200,
        READ,
        "show another branch",
    ),
    Case("PATCH", CONVERSATION, {"pinned": True}, 200, OWNS, OWNS, "pin"),
    Case("PATCH", CONVERSATION, {"title": "Lake", "pinned": True}, 200, OWNS, OWNS, "pin"),
    Case("PATCH", CONVERSATION, {"space_id": None}, 200, OWNS, OWNS, "move"),
    Case(
        "PATCH",
        CONVERSATION,
        {"system": "Be brief."},
        200,
        OWNS,
        OWNS,
        "the `system` of a conversation",
    ),
    Case("PATCH", CONVERSATION, {"model": None}, 200, OWNS, OWNS, "set the `model`"),
    Case("DELETE", CONVERSATION, {}, 204, OWNS, OWNS, "delete conversations"),
    Case("GET", f"{CONVERSATION}/export", {}, 200, 200, 200, "export"),
    Case("POST", f"{CONVERSATION}/share", {}, 200, OWNS, OWNS, "publish by a link"),
    Case("GET", f"{CONVERSATION}/share", {}, 200, OWNS, OWNS, "publish by a link"),
    Case("DELETE", f"{CONVERSATION}/share", {}, 204, OWNS, OWNS, "publish by a link"),
    Case("GET", f"{CONVERSATION}/messages", {}, 200, 200, 200, "its conversations"),
    Case("POST", f"{CONVERSATION}/messages", NEW, 422, 422, READ, "send"),
    Case("GET", MESSAGE, {}, 200, 200, 200, "its conversations"),
    Case("DELETE", MESSAGE, {}, 204, OWNS, OWNS, "delete messages"),
    Case("PUT", f"{MESSAGE}/feedback", {"rating": "up"}, 200, OWNS, OWNS, "rate replies"),
    Case("DELETE", f"{MESSAGE}/feedback", {}, 204, OWNS, OWNS, "rate replies"),
    Case("POST", f"{MESSAGE}/regenerate", NO_MODEL, 422, 422, READ, "answer again"),
    Case("POST", f"{MESSAGE}/stop", {}, 200, 200, READ, "stop"),
    Case("GET", f"{MESSAGE}/stream", {}, 204, 204, 204, "replies as they are written"),
    Case("GET", f"{CONVERSATION}/stream", {}, 204, 204, 204, "replies as they are written"),
    Case("GET", SPACE, {}, 200, 200, 200, "read the space"),
    Case("PATCH", SPACE, {"name": "Lake"}, 200, OWNS, OWNS, "change the space"),
    Case("PATCH", SPACE, {"shared": None}, 200, OWNS, OWNS, "change the space"),
    Case("DELETE", SPACE, {}, 204, OWNS, OWNS, "change the space"),
    Case("GET", IN_SPACE, {}, 200, 200, 200, "its conversations"),
    Case("GET", f"{IN_SPACE}&q=deep", {}, 200, 200, 200, "search"),
    Case("POST", LIST, {"space_id": "{space_id}"}, 201, OWNS, OWNS, "begin"),
    Case("GET", "/api/files/{message_id}", {}, 200, 200, 200, "their files"),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.method} {c.path} {c.body}")


def ask(person: Persona, case: Case, space: Space, conversation: Conversation) -> Any:
    ids = {
        "space_id": str(space.pk),
        "conversation_id": str(conversation.pk),
        "message_id": str(conversation.leaf_id),
    }
    body = {k: v.format(**ids) if isinstance(v, str) else v for k, v in case.body.items()}
    return send(person.client, case.method, case.path.format(**ids), body)


def opened(alice: Persona, shared: str) -> tuple[Space, Conversation]:
    """A space as `new_shared` makes it, with a link and some feedback of its owner's."""
    space, sea = new_shared(alice, shared)
    Share.objects.create(conversation=sea, snapshot={"title": "", "messages": []})
    Feedback.objects.create(
        message=sea.messages.get(role=ASSISTANT), account=alice.user, rating="down"
    )
    return space, sea


def assert_answered(answer: Any, expected: int | str) -> None:
    if isinstance(expected, int):
        assert answer.status_code == expected, answer.content
    else:
        assert (answer.status_code, answer.json()["code"]) == (403, expected)


def test_every_endpoint_is_here() -> None:
    named = {(case.method, case.path) for case in CASES}
    expected = {(method, path) for method, path, _ in test_ownership.ROUTES}
    assert_same(named & expected, expected, "CASES in conversations/tests/test_shared_matrix.py")


@every_case
def test_the_owner_may_do_all(alice: Persona, bob: Persona, case: Case) -> None:
    team_of(alice, bob)
    assert_answered(ask(alice, case, *opened(alice, "write")), case.owner)


@every_case
def test_who_writes(alice: Persona, bob: Persona, case: Case) -> None:
    team_of(alice, bob)
    assert_answered(ask(bob, case, *opened(alice, "write")), case.writer)


@every_case
def test_who_reads(alice: Persona, bob: Persona, case: Case) -> None:
    team_of(alice, bob)
    assert_answered(ask(bob, case, *opened(alice, "read")), case.reader)


@every_case
def test_who_has_left(alice: Persona, bob: Persona, case: Case) -> None:
    team_of(alice, bob)
    place = opened(alice, "write")
    leave(bob)
    assert_answered(ask(bob, case, *place), 404)


@every_case
def test_a_stranger(alice: Persona, bob: Persona, charlie: Persona, case: Case) -> None:
    team_of(alice, bob)
    team_of(charlie)
    assert_answered(ask(charlie, case, *opened(alice, "write")), 404)


@every_case
def test_a_member_of_a_team_with_which_it_is_not_shared_any_more(
    alice: Persona, bob: Persona, case: Case
) -> None:
    team_of(alice, bob)
    place = opened(alice, "write")
    share(alice, place[0], None)
    assert_answered(ask(bob, case, *place), 404)


@pytest.mark.parametrize("shared", ["read", "write"])
def test_of_several_conversations_members_delete_none(
    alice: Persona, bob: Persona, shared: str
) -> None:
    team_of(alice, bob)
    _, sea = opened(alice, shared)
    answer = bob.client.post(f"{LIST}/delete", {"ids": [str(sea.pk)]}, format="json")
    assert answer.json() == {"deleted": []}
    assert Conversation.objects.filter(pk=sea.pk).exists()


def test_what_is_refused_changes_nothing(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    place = opened(alice, "read")
    path = f"{LIST}/{place[1].pk}"
    before = alice.client.get(path).json()
    for case in CASES:
        if isinstance(case.reader, str):
            ask(bob, case, *place)
    assert alice.client.get(path).json() == before
    assert Share.objects.filter(conversation=place[1]).exists()
