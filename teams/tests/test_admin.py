"""Teams in the operators' admin."""

import pytest

from conftest import Persona
from teams.models import AuditEntry, Invitation, Member, Team
from teams.tests.people import ME, add, found, invite, roles, token_for
from tests.operators import Operator, audit_of, new_operator

TEAMS, MEMBERS = "teams/team/", "teams/member/"
INVITATIONS, AUDIT = "teams/invitation/", "teams/auditentry/"


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


def test_an_operator_sees_who_is_in_a_team_and_what_was_done_there(
    operator: Operator, alice: Persona, bob: Persona
) -> None:
    team = found(alice, "Sea folk")
    add(team, bob, "admin")
    invite(bob, "dora@example.com")
    for path in (TEAMS, f"{TEAMS}{team['id']}/change/"):
        shown = operator.get(path)
        assert "Sea folk" in shown
        assert alice.user.email in shown
    assert bob.user.email in operator.get(f"{TEAMS}{team['id']}/change/")
    assert "dora@example.com" in operator.get(INVITATIONS)
    assert "Team Created" in operator.get(f"{AUDIT}?q={team['id']}")


def test_teams_are_found_by_their_members(operator: Operator, alice: Persona, bob: Persona) -> None:
    add(found(alice, "Sea folk"), bob)
    for term in (bob.user.email, "bob@", str(Team.objects.get().pk)):
        assert "Sea folk" in operator.get(f"{TEAMS}?q={term}")
    assert "Sea folk" not in operator.get(f"{TEAMS}?q=charlie")
    assert alice.user.email in operator.get(f"{AUDIT}?q=alice@")
    assert bob.user.email in operator.get(f"{MEMBERS}?q={bob.user.email}")


def test_no_page_shows_a_token_or_its_digest(operator: Operator, alice: Persona) -> None:
    found(alice)
    invite(alice, "dora@example.com")
    token = token_for("dora@example.com")
    [invitation] = Invitation.objects.all()
    for path in (INVITATIONS, f"{INVITATIONS}{invitation.pk}/change/"):
        shown = operator.get(path)
        assert token not in shown
        assert bytes(invitation.digest or b"").hex() not in shown
        assert "digest" not in shown.lower()


def test_an_operator_makes_a_member_the_owner(
    operator: Operator, alice: Persona, bob: Persona
) -> None:
    team = found(alice)
    add(team, bob)
    member = Member.objects.get(account=bob.user)
    url = f"{MEMBERS}{member.pk}/make_owner/"
    for _ in range(2):
        assert operator.post(url, reason="Alice has lost her mailbox").status_code == 302
    assert roles(team["id"]) == {"Alice": "admin", "Bob": "owner"}
    [said] = audit_of(member)
    assert said.endswith("owns the team now. Reason: Alice has lost her mailbox")
    entry = AuditEntry.objects.filter(action="ownership_transferred").get()
    assert (entry.actor, entry.subject) == (None, bob.user)


def test_an_operator_revokes_an_invitation(operator: Operator, alice: Persona) -> None:
    found(alice)
    invite(alice, "dora@example.com")
    [invitation] = Invitation.objects.all()
    url = f"{INVITATIONS}{invitation.pk}/revoke/"
    for _ in range(2):
        assert operator.post(url, reason="Spam").status_code == 302
    assert audit_of(invitation) == ["Revoked; it was for dora@example.com. Reason: Spam"]
    assert alice.client.get(f"{ME}/invites").json() == []


def test_an_operator_deletes_a_team(operator: Operator, alice: Persona, bob: Persona) -> None:
    team = found(alice)
    add(team, bob)
    operator.post(f"{TEAMS}{team['id']}/delete_team/", reason="Phishing")
    assert bob.client.get(ME).status_code == 404
    assert not Team.objects.exists()
    assert "Team Deleted" in operator.get(f"{AUDIT}?q={team['id']}")


def test_who_may_only_look_changes_nothing(alice: Persona, bob: Persona) -> None:
    team = found(alice)
    add(team, bob)
    viewer = new_operator("teams.view_team", "teams.view_member", "teams.view_auditentry")
    assert "delete_team" not in viewer.get(f"{TEAMS}{team['id']}/change/")
    for url in (f"{TEAMS}{team['id']}/delete_team/", f"{MEMBERS}{bob.user.pk}/make_owner/"):
        assert viewer.post(url, reason="x").status_code == 403
    assert not viewer.is_allowed(INVITATIONS)
    assert roles(team["id"]) == {"Alice": "owner", "Bob": "member"}
