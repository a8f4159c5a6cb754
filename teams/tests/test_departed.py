"""What becomes of a team when the account of a member is closed, or given to the owner of its
address."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from accounts.services import users
from accounts.tests.mailbox import mailed_token
from conftest import Persona, persona
from events.tests.streams import user_events
from teams.models import AuditEntry, Member, Team
from teams.tests.people import ME, add, found, invite, roles, token_for, verify


def close(person: Persona) -> None:
    assert person.client.delete("/api/users/me").status_code == 204


@pytest.mark.parametrize("role", ["member", "admin"])
def test_who_closes_the_account_is_out(alice: Persona, bob: Persona, role: str) -> None:
    team = found(alice)
    add(team, bob, role)
    close(bob)
    assert roles(team["id"]) == {"Alice": "owner"}
    [entry] = AuditEntry.objects.filter(action="member_left")
    assert (entry.actor, entry.subject) == (bob.user, bob.user)
    assert user_events(alice.user)[-1][0] == "team.member.left"


def test_the_team_of_an_owner_without_others_is_gone(alice: Persona) -> None:
    found(alice)
    close(alice)
    assert not Team.objects.exists()


def joined(team_id: str, *people: tuple[Persona, str]) -> None:
    """Let them have joined one after the other, an hour apart."""
    for hours, (person, role) in enumerate(people):
        Member.objects.create(
            account=person.user,
            team_id=team_id,
            role=role,
            joined_at=timezone.now() + timedelta(hours=hours),
        )


def test_the_team_of_an_owner_goes_to_the_admin_who_joined_first(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    joined(team["id"], (charlie, "member"), (bob, "admin"), (persona("dora"), "admin"))
    close(alice)
    assert roles(team["id"]) == {"Bob": "owner", "Charlie": "member", "Dora": "admin"}
    assert bob.client.get(ME).json()["role"] == "owner"
    told = [kind for kind, _ in user_events(bob.user)]
    assert told.count("team.member.updated") == 2
    assert told[-1] == "team.member.left"
    entry = AuditEntry.objects.get(action="ownership_transferred")
    assert (entry.actor, entry.subject) == (alice.user, bob.user)


def test_where_there_is_no_admin_it_goes_to_the_member_who_joined_first(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    joined(team["id"], (charlie, "member"), (bob, "member"))
    close(alice)
    assert roles(team["id"]) == {"Charlie": "owner", "Bob": "member"}


def test_active_accounts_come_before_suspended_ones(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    joined(team["id"], (bob, "admin"), (charlie, "member"))
    users.suspend(user=bob.user)
    close(alice)
    assert roles(team["id"]) == {"Bob": "admin", "Charlie": "owner"}


def test_who_is_suspended_stays_in_the_team(alice: Persona, bob: Persona) -> None:
    team = found(alice)
    add(team, bob)
    users.suspend(user=bob.user)
    assert roles(team["id"]) == {"Alice": "owner", "Bob": "member"}
    users.reactivate(user=bob.user)
    assert roles(team["id"]) == {"Alice": "owner", "Bob": "member"}


def test_a_closed_account_that_is_opened_again_is_in_no_team(alice: Persona, bob: Persona) -> None:
    team = found(alice)
    add(team, bob)
    close(bob)
    users.reactivate(user=User.objects.get(pk=bob.user.pk))
    assert roles(team["id"]) == {"Alice": "owner"}


def test_the_owner_of_an_address_does_not_inherit_the_team_of_a_stranger(
    alice: Persona, bob: Persona
) -> None:
    """The stranger has signed up with Bob's address, and waits in the team for what he writes."""
    add(found(bob), alice)
    bob.client.post("/api/auth/forgot-password", {"email": bob.user.email}, format="json")
    token = mailed_token("/reset-password", bob.user.email)
    body = {"token": token, "password": "a wholly different phrase"}
    assert bob.client.post("/api/auth/reset-password", body, format="json").status_code == 204
    assert not Member.objects.filter(account=bob.user).exists()
    assert alice.client.get(ME).json()["role"] == "owner"


def test_who_owns_the_address_keeps_the_team_through_a_reset(alice: Persona, bob: Persona) -> None:
    team = found(alice)
    verify(bob.user)
    invite(alice, bob.user.email)
    accept_path = f"/api/teams/invites/{token_for(bob.user.email)}/accept"
    assert bob.client.post(accept_path).status_code == 200
    bob.client.post("/api/auth/forgot-password", {"email": bob.user.email}, format="json")
    token = mailed_token("/reset-password", bob.user.email)
    body = {"token": token, "password": "a wholly different phrase"}
    bob.client.post("/api/auth/reset-password", body, format="json")
    assert roles(team["id"]) == {"Alice": "owner", "Bob": "member"}
