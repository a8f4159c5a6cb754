"""GET /api/teams/me/audit"""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from common.ids import uuid7
from conftest import Persona
from teams import tasks
from teams.models import AuditEntry
from teams.tests.people import INVITES, ME, accept, add, found, invite, refusal, token_for, verify
from teams.types import AUDIT_KEPT

AUDIT = f"{ME}/audit"


def told(person: Persona) -> list[Any]:
    """The log, the oldest entry first: who did what to whom, and what changed."""
    return [
        (
            each["action"],
            each["actor"] and each["actor"]["name"],
            each["subject"] and each["subject"]["name"],
            each["email"],
            each["before"],
            each["after"],
        )
        for each in reversed(person.client.get(AUDIT).json())
    ]


def test_it_says_who_did_what_to_whom(alice: Persona, bob: Persona, charlie: Persona) -> None:
    found(alice, "Sea")
    for person in (bob, charlie):
        verify(person.user)
        invite(alice, person.user.email)
        accept(person, token_for(person.user.email))
    alice.client.patch(ME, {"name": "Lake"}, format="json")
    path = f"{ME}/members/{bob.user.pk}"
    alice.client.patch(path, {"role": "admin"}, format="json")
    row = invite(bob, "dora@example.com").json()
    alice.client.delete(f"{INVITES}/{row['id']}")
    invite(bob, "emil@example.com")
    declined = token_for("emil@example.com")
    charlie.client.post(f"/api/teams/invites/{declined}/decline")
    body = {"member_id": str(bob.user.pk)}
    alice.client.post(f"{ME}/transfer-ownership", body, format="json")
    bob.client.delete(f"{ME}/members/{charlie.user.pk}")
    alice.client.post(f"{ME}/leave")
    assert told(bob) == [
        ("team_created", "Alice", None, None, None, "Sea"),
        ("invitation_sent", "Alice", None, "bob@example.com", None, "member"),
        ("member_joined", "Bob", "Bob", "bob@example.com", None, "member"),
        ("invitation_sent", "Alice", None, "charlie@example.com", None, "member"),
        ("member_joined", "Charlie", "Charlie", "charlie@example.com", None, "member"),
        ("team_renamed", "Alice", None, None, "Sea", "Lake"),
        ("role_changed", "Alice", "Bob", None, "member", "admin"),
        ("invitation_sent", "Bob", None, "dora@example.com", None, "member"),
        ("invitation_revoked", "Alice", None, "dora@example.com", "member", None),
        ("invitation_sent", "Bob", None, "emil@example.com", None, "member"),
        ("invitation_declined", None, None, "emil@example.com", "member", None),
        ("ownership_transferred", "Alice", "Bob", None, "admin", "owner"),
        ("member_removed", "Bob", "Charlie", None, "member", None),
        ("member_left", "Alice", "Alice", None, "admin", None),
    ]


def test_it_is_for_owner_and_admins(alice: Persona, bob: Persona, charlie: Persona) -> None:
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    assert bob.client.get(AUDIT).json() == alice.client.get(AUDIT).json()
    assert refusal(charlie.client.get(AUDIT)) == (403, "role_too_low")
    charlie.client.post(f"{ME}/leave")
    assert refusal(charlie.client.get(AUDIT)) == (404, "no_team")


def test_it_is_that_of_the_team_alone(alice: Persona, bob: Persona) -> None:
    found(alice)
    found(bob)
    assert told(alice) == [("team_created", "Alice", None, None, None, "Sea")]


def test_it_is_paged_as_all_lists_are(alice: Persona) -> None:
    found(alice, "Sea")
    for name in ("Lake", "River"):
        alice.client.patch(ME, {"name": name}, format="json")
    first = alice.client.get(AUDIT, {"limit": 2})
    assert [each["after"] for each in first.json()] == ["River", "Lake"]
    assert 'rel="next"' in first["Link"]
    rest = alice.client.get(AUDIT, {"before": first.json()[-1]["id"]})
    assert [each["after"] for each in rest.json()] == ["Sea"]
    assert alice.client.get(AUDIT, {"before": "x"}).status_code == 422


def test_an_entry_is_kept_for_a_year_and_outlives_its_team(alice: Persona) -> None:
    found(alice)
    alice.client.delete(ME)
    now = timezone.now()
    for hours in (1, -1):
        at = now - AUDIT_KEPT + timedelta(hours=hours)
        AuditEntry.objects.create(id=uuid7(at), team_id=uuid7(), action="team_created")
    tasks.purge()
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["team_created", "team_created", "team_deleted"]
