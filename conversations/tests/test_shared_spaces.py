"""A space is opened to the owner's team, and taken back."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.services import users
from conftest import Persona
from conversations.models import Attachment, Feedback, Space
from conversations.tests.rows import ASSISTANT, add, talk
from conversations.tests.sharers import SPACES, leave, new_shared, remove, share, team_of
from media.files.models import Upload
from teams.models import Member
from teams.tests.people import ME

LIST = "/api/conversations"


def listed(person: Persona) -> list[Any]:
    return [row["name"] for row in person.client.get(SPACES).json()]


def test_a_space_is_opened_changed_and_taken_back(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    space = Space.objects.create(account=alice.user, name="Sea", instructions="Be brief.")
    assert listed(bob) == []
    for shared in ("read", "write"):
        mine = share(alice, space, shared).json()
        assert (mine["shared"], mine["access"]) == (shared, "owner")
        [theirs] = bob.client.get(SPACES).json()
        assert theirs == {**mine, "access": shared}
        assert theirs["owner"] == {"id": str(alice.user.pk), "name": "Alice"}
    assert share(alice, space, None).json()["shared"] is None
    assert listed(bob) == []


def test_without_a_team_nothing_is_opened(alice: Persona) -> None:
    space = Space.objects.create(account=alice.user, name="Sea")
    answer = share(alice, space, "read")
    assert (answer.status_code, answer.json()["code"]) == (409, "no_team")
    assert share(alice, space, None).status_code == 200
    space.refresh_from_db()
    assert space.shared is None


@pytest.mark.parametrize("shared", ["", "owner", 7, ["read"]])
def test_other_values_are_refused(alice: Persona, shared: Any) -> None:
    team_of(alice)
    space = Space.objects.create(account=alice.user, name="Sea")
    answer = alice.client.patch(f"{SPACES}/{space.pk}", {"shared": shared}, format="json")
    assert answer.status_code == 422


def test_shared_spaces_come_in_the_order_of_all(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    Space.objects.create(account=bob.user, name="First")
    new_shared(alice, "read")
    Space.objects.create(account=bob.user, name="Last")
    Space.objects.create(account=alice.user, name="Hers alone")
    assert listed(bob) == ["Last", "Sea", "First"]


def test_more_shared_spaces_take_no_more_queries(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    new_shared(alice, "read")
    with CaptureQueriesContext(connection) as few:
        bob.client.get(SPACES)
    for _ in range(3):
        new_shared(alice, "write")
    with CaptureQueriesContext(connection) as many:
        bob.client.get(SPACES)
    assert len(many) == len(few) == 2


def test_conversations_are_listed_in_their_space_and_not_among_one_s_own(
    alice: Persona, bob: Persona
) -> None:
    team_of(alice, bob)
    space, sea = new_shared(alice, "read")
    own = talk(bob.user, "Mine")
    [row] = bob.client.get(LIST, {"space_id": str(space.pk)}).json()
    assert (row["id"], row["access"]) == (str(sea.pk), "read")
    [row] = bob.client.get(LIST).json()
    assert (row["id"], row["access"]) == (str(own.pk), "owner")


def test_a_space_is_searched_by_those_who_read_it(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    space, sea = new_shared(alice, "read")
    talk(alice.user, "Deep elsewhere")
    talk(bob.user, "Deep as well")
    [row] = bob.client.get(LIST, {"space_id": str(space.pk), "q": "deep"}).json()
    assert row["id"] == str(sea.pk)
    assert "deep" in row["match"]["snippet"]
    assert str(sea.pk) not in bob.client.get(LIST, {"q": "deep"}).content.decode()


def test_files_are_read_by_those_who_read_the_conversation(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    _, sea = new_shared(alice, "write")
    upload = Upload.objects.create(
        account=bob.user, name="sea.txt", media_type="text/plain", is_text=True, size=3
    )
    message = add(sea, "Look", author_id=bob.user.pk)
    Attachment.objects.create(message=message, upload=upload)
    for person in (alice, bob):
        [file] = person.client.get(f"/api/files/{message.pk}").json()
        assert file["name"] == "sea.txt"


def test_messages_tell_who_has_sent_them(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    _, sea = new_shared(alice, "write")
    add(sea, "Why?", author_id=bob.user.pk)
    path = f"{LIST}/{sea.pk}"
    shown = alice.client.get(path).json()["messages"]
    ids = [str(person.user.pk) for person in (alice, alice, bob)]
    assert [message["author_id"] for message in shown] == ids
    assert bob.client.get(path).json()["messages"] == shown
    page = bob.client.get(f"{path}/messages").json()
    assert page == shown[::-1]
    assert bob.client.get(f"{path}/messages/{shown[2]['id']}").json() == shown[2]


def test_feedback_is_seen_by_who_gave_it(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    _, sea = new_shared(alice, "write")
    Feedback.objects.create(
        message=sea.messages.get(role=ASSISTANT), account=alice.user, rating="up"
    )
    path = f"{LIST}/{sea.pk}"
    message = f"{path}/messages/{sea.leaf_id}"
    assert alice.client.get(message).json()["feedback"] == {"rating": "up", "comment": None}
    assert bob.client.get(message).json()["feedback"] is None
    assert bob.client.get(path).json()["messages"][-1]["feedback"] is None


def delete_team(owner: Persona, _: Persona) -> None:
    assert owner.client.delete(ME).status_code == 204


def close(owner: Persona, _: Persona) -> None:
    users.deactivate(user=owner.user)


def delete_by_hand(owner: Persona, _: Persona) -> None:
    """As somebody does in a shell."""
    Member.objects.filter(account=owner.user).delete()


def leave_after_a_transfer(owner: Persona, member: Persona) -> None:
    body = {"member_id": str(member.user.pk)}
    answer = owner.client.post(f"{ME}/transfer-ownership", body, format="json")
    assert answer.status_code == 200
    leave(owner)


def leave_it(_: Persona, member: Persona) -> None:
    leave(member)


@pytest.mark.parametrize(
    "end", [remove, leave_it, delete_team, leave_after_a_transfer, close, delete_by_hand]
)
def test_who_is_not_in_the_team_with_the_owner_any_more_sees_nothing(
    alice: Persona, bob: Persona, end: Callable[[Persona, Persona], None]
) -> None:
    team_of(alice, bob)
    space, sea = new_shared(alice, "write")
    assert bob.client.get(f"{LIST}/{sea.pk}").status_code == 200
    end(alice, bob)
    assert bob.client.get(f"{LIST}/{sea.pk}").status_code == 404
    assert bob.client.get(f"{SPACES}/{space.pk}").status_code == 404
    assert listed(bob) == []


@pytest.mark.parametrize("end", [delete_team, leave_after_a_transfer, close, delete_by_hand])
def test_a_team_that_the_owner_joins_later_sees_nothing(
    alice: Persona, bob: Persona, charlie: Persona, end: Callable[[Persona, Persona], None]
) -> None:
    team_of(alice, bob)
    space, sea = new_shared(alice, "write")
    end(alice, bob)
    team = team_of(charlie)
    Member.objects.create(account=alice.user, team_id=team["id"], role="member")
    assert charlie.client.get(f"{LIST}/{sea.pk}").status_code == 404
    space.refresh_from_db()
    assert space.shared is None


def test_a_transfer_of_the_team_leaves_spaces_open(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    space, sea = new_shared(alice, "read")
    body = {"member_id": str(bob.user.pk)}
    assert alice.client.post(f"{ME}/transfer-ownership", body, format="json").status_code == 200
    assert bob.client.get(f"{LIST}/{sea.pk}").status_code == 200
    assert bob.client.delete(f"{SPACES}/{space.pk}").status_code == 403


def test_what_a_member_has_written_stays_with_the_owner(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    _, sea = new_shared(alice, "write")
    message = add(sea, "Why?", author_id=bob.user.pk)
    leave(bob)
    path = f"{LIST}/{sea.pk}/messages/{message.pk}"
    assert alice.client.get(path).json()["content"] == "Why?"
    assert alice.client.delete(path).status_code == 204


def test_a_conversation_that_leaves_the_space_leaves_the_team(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    _, sea = new_shared(alice, "read")
    path = f"{LIST}/{sea.pk}"
    alice.client.patch(path, {"space_id": None}, format="json")
    assert bob.client.get(path).status_code == 404


def test_a_member_moves_nothing_of_their_own_into_it(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    space, _ = new_shared(alice, "write")
    own = talk(bob.user, "Mine")
    answer = bob.client.patch(f"{LIST}/{own.pk}", {"space_id": str(space.pk)}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (403, "owner_only")


def test_a_suspended_member_s_spaces_stay_open(alice: Persona, bob: Persona) -> None:
    team_of(alice, bob)
    _, sea = new_shared(alice, "read")
    users.suspend(user=alice.user)
    assert bob.client.get(f"{LIST}/{sea.pk}").status_code == 200


def test_a_member_cannot_put_a_file_in_the_place_of_the_owner_s(
    alice: Persona, bob: Persona
) -> None:
    """By an id of alice's client, which bob has read."""
    client_id = "the-id-of-client-A"
    team_of(alice, bob)
    _, sea = new_shared(alice, "write")
    own = add(talk(alice.user), "My notes.", client_id=client_id)
    foreign = add(sea, "Look here.", client_id=client_id, author_id=bob.user.pk)
    for message, person in ((own, alice), (foreign, bob)):
        upload = Upload.objects.create(
            account=person.user, name="notes.txt", media_type="text/plain", is_text=True, size=7
        )
        Attachment.objects.create(message=message, upload=upload)
    [file] = alice.client.get(f"/api/files/{client_id}").json()
    assert file["id"] == str(own.attachments.get().upload_id)
