"""All devices of everybody in a team are told what has changed in it."""

from typing import Any

import pytest

from conftest import Persona, persona
from events.tests.streams import user_events
from teams.tests.people import INVITES, ME, accept, add, found, invite, token_for, verify


def told(person: Persona) -> list[tuple[str, Any]]:
    return [(kind, data) for kind, data in user_events(person.user) if kind.startswith("team.")]


def kinds(person: Persona) -> list[str]:
    return [kind for kind, _ in told(person)]


@pytest.fixture
def team(alice: Persona, bob: Persona, charlie: Persona) -> Any:
    """Alice's, with Bob as an admin and Charlie as a member."""
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    return team


def row(person: Persona, of: Persona) -> Any:
    """A member as in the team that the person loads."""
    members = person.client.get(ME).json()["members"]
    return next(each for each in members if each["id"] == str(of.user.pk))


def test_who_creates_a_team_is_told_on_other_devices(alice: Persona) -> None:
    team = found(alice)
    shown = {name: team[name] for name in ("id", "name", "created_at")}
    assert told(alice) == [("team.created", {"team": shown})]


def test_everybody_is_told_of_a_new_name(
    team: Any, alice: Persona, bob: Persona, charlie: Persona
) -> None:
    answer = bob.client.patch(ME, {"name": "Lake"}, format="json").json()
    shown = {name: answer[name] for name in ("id", "name", "created_at")}
    for person in (alice, bob, charlie):
        assert told(person)[-1] == ("team.updated", {"team": shown})


def test_everybody_is_told_who_has_joined_and_who_has_joined_of_the_team(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    add(team, charlie)
    verify(bob.user)
    invite(alice, bob.user.email)
    accept(bob, token_for(bob.user.email))
    joined = ("team.member.joined", {"team_id": team["id"], "member": row(alice, bob)})
    assert joined in told(alice)
    assert told(charlie) == [joined]
    assert kinds(bob) == ["team.joined", "team.member.joined"]
    assert told(bob)[0][1]["team"]["id"] == team["id"]


def test_everybody_is_told_of_a_role(team: Any, alice: Persona, charlie: Persona) -> None:
    path = f"{ME}/members/{charlie.user.pk}"
    alice.client.patch(path, {"role": "admin"}, format="json")
    event = ("team.member.updated", {"team_id": team["id"], "member": row(alice, charlie)})
    assert event[1]["member"]["role"] == "admin"
    assert told(charlie)[-1] == told(alice)[-1] == event


def test_a_transfer_changes_two_roles(team: Any, alice: Persona, charlie: Persona) -> None:
    body = {"member_id": str(charlie.user.pk)}
    alice.client.post(f"{ME}/transfer-ownership", body, format="json")
    rows = [data["member"] for kind, data in told(charlie) if kind == "team.member.updated"]
    assert [(each["name"], each["role"]) for each in rows] == [
        ("Alice", "admin"),
        ("Charlie", "owner"),
    ]


@pytest.mark.parametrize("how", ["leaves", "is removed"])
def test_who_is_out_is_told_and_so_are_those_who_stay(
    team: Any, alice: Persona, bob: Persona, charlie: Persona, how: str
) -> None:
    if how == "leaves":
        charlie.client.post(f"{ME}/leave")
    else:
        alice.client.delete(f"{ME}/members/{charlie.user.pk}")
    assert told(charlie) == [("team.left", {"team_id": team["id"]})]
    left = {"team_id": team["id"], "member_id": str(charlie.user.pk)}
    assert told(bob) == [("team.member.left", left)]
    before = len(told(charlie))
    alice.client.patch(ME, {"name": "Lake"}, format="json")
    assert len(told(charlie)) == before


def test_everybody_is_told_that_the_team_is_gone(
    team: Any, alice: Persona, bob: Persona, charlie: Persona
) -> None:
    alice.client.delete(ME)
    for person in (alice, bob, charlie):
        assert told(person)[-1] == ("team.deleted", {"team_id": team["id"]})


def test_invitations_are_told_to_owner_and_admins(
    team: Any, alice: Persona, bob: Persona, charlie: Persona
) -> None:
    sent = invite(alice, "dora@example.com").json()
    assert told(bob) == [("team.invite.updated", {"team_id": team["id"], "invite": sent})]
    token = token_for("dora@example.com")
    assert told(bob)[-1][1]["invite"]["sent_at"] is not None
    alice.client.delete(f"{INVITES}/{sent['id']}")
    assert told(bob)[-1][1]["invite"]["status"] == "revoked"
    assert told(alice)[-1] == told(bob)[-1]
    assert told(charlie) == []
    assert token not in str(told(bob))


def test_invitations_that_end_with_their_inviter_are_told(
    team: Any, alice: Persona, bob: Persona
) -> None:
    invite(bob, "dora@example.com")
    bob.client.post(f"{ME}/leave")
    [invited, revoked] = [data for kind, data in told(alice) if kind == "team.invite.updated"]
    assert (invited["invite"]["status"], revoked["invite"]["status"]) == ("pending", "revoked")
    assert kinds(bob)[-1] == "team.left"


def test_somebody_with_an_account_is_not_told_of_an_invitation_to_it(
    team: Any, alice: Persona
) -> None:
    """The mail is the only way, whether there is an account or not."""
    dora = persona("dora")
    invite(alice, dora.user.email)
    token_for(dora.user.email)
    assert told(dora) == []
