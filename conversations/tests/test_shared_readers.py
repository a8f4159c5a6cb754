"""Who reads a reply in a shared space, and loses the access meanwhile, reads no further; the reply
goes on, and is paid by whoever has asked for it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from pytest_django import DjangoDbBlocker
from websockets.sync.client import connect

from accounts.models import User
from accounts.services import users
from conversations.models import Space
from conversations.services import conversations, spaces
from conversations.tests.conftest import NewSpeaker
from conversations.tests.sharers import put_together
from conversations.tests.speaker import Speaker
from conversations.tests.test_signed_out_readers import (
    STEERING,
    assert_completed_and_billed_once,
    assert_ends_early,
)
from events.tests.sockets import next_frame
from simulator.process import RunningSimulator
from teams.models import Member
from teams.services import members, teams
from tests.personas import access_token_of
from tests.service import running_web


@pytest.fixture(scope="module")
def http(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[httpx.Client]:
    """A service that looks at all readers once an hour: whoever is ended here, is so by what their
    own stream was told."""
    with (
        django_db_blocker.unblock(),
        running_web(simulator, SOCKET_TICK_SECONDS="3600") as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield http


def together(speaker: NewSpeaker, shared: str = "write") -> tuple[Speaker, Speaker, str]:
    """Alice and bob in one team, and a conversation in a shared space of alice's."""
    alice, bob = speaker(), speaker(name="bob")
    put_together(alice.user, bob.user)
    space = Space.objects.create(account=alice.user, name="Sea", shared=shared)
    return alice, bob, alice.begin(title="The sea", space_id=str(space.pk))


def the_space(owner: User) -> Space:
    return Space.objects.get(account=owner)


def remove(owner: User, member: User) -> None:
    members.remove(user=owner, member_id=member.pk)


def leave(_: User, member: User) -> None:
    members.leave(user=member)


def take_back(owner: User, _: User) -> None:
    spaces.update(user=owner, space_id=the_space(owner).pk, shared=None)


def delete_space(owner: User, _: User) -> None:
    spaces.delete(user=owner, space_id=the_space(owner).pk)


def move(owner: User, _: User) -> None:
    [conversation] = the_space(owner).conversations.all()
    conversations.update(user=owner, conversation_id=conversation.pk, space_id=None)


def delete_team(owner: User, _: User) -> None:
    teams.delete(user=owner)


def close_owner(owner: User, _: User) -> None:
    users.deactivate(user=owner)


def owner_leaves(owner: User, member: User) -> None:
    members.transfer_ownership(user=owner, member_id=member.pk)
    members.leave(user=owner)


ENDS = [remove, leave, take_back, delete_space, move, delete_team, close_owner, owner_leaves]


@pytest.mark.parametrize("end", ENDS)
def test_a_member_who_has_asked_stops_reading(
    speaker: NewSpeaker, end: Callable[[User, User], None]
) -> None:
    alice, bob, conversation = together(speaker)
    path = f"/{conversation}"
    content = bob.words(**STEERING)
    with ExitStack() as stack:
        asked = stack.enter_context(bob.stream("POST", f"{path}/messages", content=content))
        asked.until("text-delta")
        came_back = stack.enter_context(bob.stream("GET", f"{path}/stream"))
        came_back.until("text-delta")
        end(alice.user, bob.user)
        assert_ends_early(asked)
        assert_ends_early(came_back)
    assert bob.ask("GET", path).status_code == 404
    assert bob.ask("GET", f"{path}/stream").status_code == 404
    assert_completed_and_billed_once(alice, payer=bob)


@pytest.mark.parametrize("end", [remove, take_back])
def test_a_member_who_only_reads_stops_and_the_owner_reads_on(
    speaker: NewSpeaker, end: Callable[[User, User], None]
) -> None:
    alice, bob, conversation = together(speaker, "read")
    path = f"/{conversation}"
    with (
        alice.stream("POST", f"{path}/messages", content=alice.words(**STEERING)) as asked,
        bob.stream("GET", f"{path}/stream") as read,
    ):
        read.until("text-delta")
        end(alice.user, bob.user)
        assert_ends_early(read)
        asked.to_the_end()


def test_who_waits_for_one_json_gets_none(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    url = f"/api/conversations/{conversation}/messages"
    body: dict[str, Any] = {"content": bob.words(**STEERING), "stream": False}
    with bob.http.stream("POST", url, json=body, headers=bob.headers) as answer:
        remove(alice.user, bob.user)
        with pytest.raises(json.JSONDecodeError):
            json.loads(answer.read())


def test_other_members_read_on(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    charlie = speaker(name="charlie")
    team_id = Member.objects.get(account=alice.user).team_id
    Member.objects.create(account=charlie.user, team_id=team_id, role="member")
    path = f"/{conversation}"
    with (
        alice.stream("POST", f"{path}/messages", content=alice.words(**STEERING)) as asked,
        bob.stream("GET", f"{path}/stream") as ended,
        charlie.stream("GET", f"{path}/stream") as kept,
    ):
        ended.until("text-delta")
        kept.until("text-delta")
        remove(alice.user, bob.user)
        assert_ends_early(ended)
        kept.to_the_end()
        asked.to_the_end()


def test_from_writing_to_reading_streams_go_on(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    path = f"/{conversation}"
    with bob.stream("POST", f"{path}/messages", content=bob.words(**STEERING)) as asked:
        asked.until("text-delta")
        spaces.update(user=alice.user, space_id=the_space(alice.user).pk, shared="read")
        heard = asked.to_the_end()
    refused = bob.ask("POST", f"{path}/messages", content=bob.words())
    assert (refused.status_code, refused.json()["code"]) == (403, "read_only")
    assert bob.message(conversation, heard.reply_id)["usage"] == heard.usage


def test_the_socket_of_a_removed_member_tells_no_more_of_the_space(speaker: NewSpeaker) -> None:
    alice, bob, conversation = together(speaker)
    base = str(bob.http.base_url).replace("http", "ws").rstrip("/")
    with connect(f"{base}/api/ws?token={access_token_of(bob.user)}") as socket:
        content = alice.words(**STEERING)
        with alice.stream("POST", f"/{conversation}/messages", content=content) as asked:
            asked.until("text-delta")
            remove(alice.user, bob.user)
            asked.to_the_end()
        bob.begin(title="My own")
        told = [json.loads(next_frame(socket))["type"] for _ in range(3)]
    assert told == ["conversation.replied", "team.left", "conversation.created"]
