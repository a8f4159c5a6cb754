"""What teammates were told of somebody in their own event streams does not outlive the deletion of
that person's data."""

import json
from typing import Any

import pytest

from accounts.models import User
from conftest import Persona, persona
from conversations.models import Conversation, Space
from conversations.tests import manual
from conversations.tests.rows import add, talk
from conversations.tests.sharers import share
from events import services
from events.models import Event
from events.tests.streams import user_events
from privacy import erasing
from privacy.services import deletions
from privacy.tests.deleting import delete_data, requested
from teams.tests.people import ME, accept, found, invite, token_for, verify

pytestmark = pytest.mark.usefixtures("providers")

CONVERSATIONS = "/api/conversations"
PICTURE = "https://example.com/zq4x.png"


def join(manager: Persona, person: Persona, role: str = "member") -> None:
    """By an invitation."""
    verify(person.user)
    assert invite(manager, person.user.email, role).status_code == 201
    assert accept(person, token_for(person.user.email)).status_code == 200


def change(person: Persona, path: str, **body: object) -> None:
    answer = person.client.patch(path, body, format="json")
    assert answer.status_code == 200, answer.content


@pytest.fixture
def others(alice: Persona, bob: Persona, charlie: Persona) -> list[User]:
    """Those who were told of bob: alice, who owns the team, charlie, who is in it, and erin, who
    has invited him in vain. Dora was invited by him."""
    User.objects.filter(pk=bob.user.pk).update(name="Robert zq4x", avatar_url=PICTURE)
    erin = persona("erin")
    for owner in (alice, erin):
        found(owner)
    invite(erin, bob.user.email)
    join(alice, charlie)
    join(alice, bob, "admin")
    for role in ("member", "admin"):
        change(alice, f"{ME}/members/{bob.user.pk}", role=role)
    assert invite(bob, "dora@example.com").status_code == 201
    return [alice.user, charlie.user, erin.user]


@pytest.fixture
def talks(others: list[User], alice: Persona, bob: Persona, charlie: Persona) -> None:
    """Bob's conversations in his space, in which charlie was answered, one of which he has deleted,
    and one of alice's that begins with his words."""
    space = Space.objects.create(account=bob.user, name="Lake zq4x")
    share(bob, space, "write")
    kept, gone = (talk(bob.user, "How deep?", "Very.", space=space) for _ in range(2))
    for conversation in (kept, gone):
        change(bob, f"{CONVERSATIONS}/{conversation.pk}", title="Secret zq4x")
    call = manual.begin(charlie.user, Conversation.objects.get(pk=kept.pk))
    call.settle("Very.")
    assert bob.client.delete(f"{CONVERSATIONS}/{gone.pk}").status_code == 204
    sea = Space.objects.create(account=alice.user, name="Sea")
    share(alice, sea, "write")
    begun = Conversation.objects.create(account=alice.user, space=sea)
    add(begun, "I am zq4x.", author_id=bob.user.pk)
    Conversation.objects.filter(pk=begun.pk).update(title="I am zq4x.")
    change(alice, f"{CONVERSATIONS}/{begun.pk}", pinned=True)
    own = talk(alice.user, "Mine", space=sea)
    change(alice, f"{CONVERSATIONS}/{own.pk}", title="Tides")


def numbered(users: list[User]) -> set[tuple[Any, ...]]:
    """The events of these users, without their data."""
    events = Event.objects.filter(stream__account__in=users)
    return set(events.values_list("stream_id", "seq", "type", "actor", "created_at"))


def naming(users: list[User], *words: str) -> list[tuple[str, Any]]:
    """The events of these users that contain one of the words."""
    told = [each for user in users for each in user_events(user)]
    return [each for each in told if any(word in json.dumps(each) for word in words)]


def test_nobody_keeps_the_address_the_name_or_a_title(
    others: list[User], talks: None, bob: Persona
) -> None:
    words = [bob.user.email, "zq4x"]
    kinds = {kind for kind, _ in naming(others, *words)}
    assert kinds == {
        "team.invite.updated",
        "team.member.joined",
        "team.member.updated",
        "space.updated",
        "conversation.updated",
        "conversation.replied",
    }
    before = numbered(others)

    delete_data(bob.user)

    assert naming(others, *words) == []
    assert before <= numbered(others)  # more were written: a title has changed


def test_what_takes_their_place_has_the_same_form(
    others: list[User], talks: None, alice: Persona, bob: Persona
) -> None:
    """Whatever is written is also held against the schema of its type, after each test."""

    def told(kind: str) -> Any:
        return [data for each, data in user_events(alice.user) if each == kind]

    joined, shared = told("team.member.joined")[-1], told("space.updated")[0]
    delete_data(bob.user)
    blank = {"name": "", "email": "deleted@invalid.example", "avatar_url": None}
    assert told("team.member.joined")[-1] == {**joined, "member": {**joined["member"], **blank}}
    nobody = {"name": "(deleted)", "owner": {"id": str(bob.user.pk), "name": ""}}
    assert told("space.updated")[0] == {"space": {**shared["space"], **nobody}}
    assert {each["title"] for each in told("conversation.replied")} == {"(deleted)"}


def test_what_is_told_of_others_stays(
    others: list[User], talks: None, bob: Persona, charlie: Persona
) -> None:
    before = naming(others, charlie.user.email, "Tides")
    delete_data(bob.user)
    assert naming(others, charlie.user.email, "Tides") == before
    assert naming(others, "dora@example.com")  # whom bob has invited


def test_a_title_is_not_told_again_after_it_was_erased(
    others: list[User], talks: None, bob: Persona, charlie: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Charlie goes on in the conversation that bob has begun, whenever a stream is done."""
    rewrite = services._rewrite_page
    begun = Conversation.objects.get(title="I am zq4x.")

    def goes_on(*args: Any) -> int | None:
        last_seq = rewrite(*args)
        if last_seq is None:
            manual.begin(charlie.user, Conversation.objects.get(pk=begun.pk)).settle("Very.")
        return last_seq

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(services, "_rewrite_page", goes_on)
        delete_data(bob.user)
    assert naming(others, "zq4x") == []


def test_a_deletion_whose_sweeps_are_short_comes_to_an_end(
    others: list[User], talks: None, bob: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that only pages of events move, of which there are more than in one sweep."""
    rewrite, pages = services._rewrite_page, 0

    def rewrites(*args: Any) -> int | None:
        nonlocal pages
        pages += 1
        return rewrite(*args)

    monkeypatch.setattr(services, "_rewrite_page", rewrites)
    monkeypatch.setattr(erasing, "monotonic", lambda: pages)
    monkeypatch.setattr(deletions, "SECONDS", 2)
    deletion, sweeps = requested(bob.user), 0
    while deletion.ended_at is None:
        before = pages
        deletions.go_on_with_all()
        assert pages - before <= 4
        sweeps += 1
        assert sweeps < 10
        deletion.refresh_from_db()
    assert sweeps > 1
    assert naming(others, bob.user.email, "zq4x") == []


def test_a_deletion_that_dies_in_between_goes_on(
    others: list[User], talks: None, bob: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite, done = services._rewrite_page, []

    def dies(*args: Any) -> int | None:
        done.append(args)
        if len(done) == 4:
            raise OSError("The worker is killed.")
        return rewrite(*args)

    with monkeypatch.context() as dying:
        dying.setattr(services, "_rewrite_page", dies)
        with pytest.raises(AssertionError):
            delete_data(bob.user)
    assert naming(others, bob.user.email, "zq4x")
    deletions.go_on_with_all()
    assert naming(others, bob.user.email, "zq4x") == []
