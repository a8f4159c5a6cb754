"""GET, POST, PATCH and DELETE /api/teams/me"""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from common.ids import uuid7
from conftest import Persona
from teams.models import AuditEntry, Invitation, Member, Team
from teams.tests.people import ME, add, found, invite, refusal, roles
from teams.types import MAX_CHANGES_PER_DAY, MAX_TEAMS_PER_DAY
from tests.personas import new_user


def rename(person: Persona, name: Any) -> Any:
    return person.client.patch(ME, {"name": name}, format="json")


def test_who_creates_a_team_owns_it(alice: Persona) -> None:
    body = found(alice, "Sea")
    [member] = body["members"]
    assert (body["name"], body["role"]) == ("Sea", "owner")
    assert member | {"joined_at": None} == {
        "id": str(alice.user.pk),
        "name": "Alice",
        "email": "alice@example.com",
        "avatar_url": None,
        "role": "owner",
        "joined_at": None,
    }
    assert member["joined_at"].endswith("Z")
    assert body.keys() == {"id", "name", "role", "members", "created_at"}
    assert alice.client.get(ME).json() == body


def test_who_is_in_no_team_is_told_what_to_do(alice: Persona) -> None:
    answer = alice.client.get(ME)
    assert refusal(answer) == (404, "no_team")
    assert "Create one" in answer.json()["detail"]


def test_members_see_the_same_team_each_with_their_role(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    seen = [person.client.get(ME).json() for person in (alice, bob, charlie)]
    assert [each.pop("role") for each in seen] == ["owner", "admin", "member"]
    assert seen[0] == seen[1] == seen[2]
    assert [each["name"] for each in seen[0]["members"]] == ["Alice", "Bob", "Charlie"]


def test_a_large_team_is_read_with_as_many_statements_as_a_small_one(alice: Persona) -> None:
    team = found(alice)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            alice.client.get(ME)
        counts.append(len(queries))
        for _ in range(5):
            Member.objects.create(account=new_user("dora"), team_id=team["id"], role="member")
    assert counts[0] == counts[1]


@pytest.mark.parametrize("role", ["owner", "member"])
def test_who_is_in_a_team_creates_no_other(alice: Persona, bob: Persona, role: str) -> None:
    team = found(alice)
    add(team, bob)
    person = alice if role == "owner" else bob
    answer = person.client.post(ME, {"name": "Lake"}, format="json")
    assert refusal(answer) == (409, "already_in_team")
    assert Team.objects.count() == 1


def test_one_person_creates_so_many_teams_a_day(alice: Persona) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry(team_id=uuid7(), action="team_created", actor=alice.user)
        for _ in range(MAX_TEAMS_PER_DAY)
    )
    answer = alice.client.post(ME, {"name": "Sea"}, format="json")
    assert refusal(answer) == (429, "too_many_teams")
    assert 86_000 < int(answer["Retry-After"]) <= 86_400


# --- Names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("  The   Sea ", "The Sea"),
        ("海の仲間", "海の仲間"),
        ("فريق البحر", "فريق البحر"),
        ("צוות הים", "צוות הים"),
        ("Équipe Ñandú 🐚", "Équipe Ñandú 🐚"),
        ("👩‍💻 crew", "👩‍💻 crew"),
        ("<b>Sea</b> & 'co'", "<b>Sea</b> & 'co'"),
        ("Sea\u202egnp.exe", "Seagnp.exe"),
        ("\u2066Sea\u2069\ufeff\u200e", "Sea"),
        ("Sea\x1b[31m\x7f", "Sea[31m"),
        ("Sea\r\nBcc: all", "Sea Bcc: all"),
        ("x" * 100, "x" * 100),
        ("海" * 100, "海" * 100),
    ],
)
def test_a_name_is_one_line_in_any_script(alice: Persona, sent: str, name: str) -> None:
    found(alice, "Lake")
    assert rename(alice, sent).json()["name"] == name


@pytest.mark.parametrize(
    "name",
    [
        *(None, "", "   ", 5, True, ["Sea"], {"name": "Sea"}),
        *("\u202e", "\u200b\u2060", "\u3164", "\u200d", "x" * 101, "海" * 101, "x" * 10_000),
    ],
    ids=lambda name: repr(name)[:12],
)
def test_a_bad_name_is_refused(alice: Persona, bob: Persona, name: Any) -> None:
    found(alice)
    for answer in (rename(alice, name), bob.client.post(ME, {"name": name}, format="json")):
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["loc"] == ["name"]
    assert alice.client.get(ME).json()["name"] == "Sea"
    assert bob.client.get(ME).status_code == 404


def test_a_body_without_a_name_is_refused_and_unknown_fields_are_ignored(alice: Persona) -> None:
    assert alice.client.post(ME, {}, format="json").status_code == 422
    assert alice.client.post(ME, ["Sea"], format="json").status_code == 422
    body = {"name": "Sea", "role": "member", "id": str(uuid7())}
    answer = alice.client.post(ME, body, format="json")
    assert answer.json()["role"] == "owner"
    assert answer.json()["id"] != body["id"]


# --- Renaming and deleting ----------------------------------------------------------------------


def test_owner_and_admins_rename_the_team(alice: Persona, bob: Persona, charlie: Persona) -> None:
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    assert rename(alice, "Lake").json()["name"] == "Lake"
    assert rename(bob, "River").json()["name"] == "River"
    assert refusal(rename(charlie, "Mine")) == (403, "role_too_low")
    assert alice.client.get(ME).json()["name"] == "River"


def test_the_same_name_is_no_change(alice: Persona) -> None:
    found(alice)
    before = AuditEntry.objects.count()
    assert rename(alice, "Sea").status_code == 200
    assert AuditEntry.objects.count() == before


def test_a_team_has_so_many_changes_a_day_and_can_be_left_all_the_same(
    alice: Persona, bob: Persona
) -> None:
    team = found(alice)
    add(team, bob)
    AuditEntry.objects.bulk_create(
        AuditEntry(team_id=team["id"], action="team_renamed") for _ in range(MAX_CHANGES_PER_DAY)
    )
    answer = rename(alice, "Lake")
    assert refusal(answer) == (429, "too_many_changes")
    assert int(answer["Retry-After"]) > 0
    assert bob.client.post(f"{ME}/leave").status_code == 204


def test_the_owner_deletes_the_team_with_all_that_is_in_it(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    add(team, bob, "admin")
    invite(alice, charlie.user.email)
    assert refusal(bob.client.delete(ME)) == (403, "role_too_low")
    assert alice.client.delete(ME).status_code == 204
    for person in (alice, bob):
        assert person.client.get(ME).status_code == 404
    assert not Invitation.objects.exists()
    assert User.objects.filter(pk=bob.user.pk).exists()
    assert found(bob)["role"] == "owner"


def test_what_belongs_to_nobody_cannot_be_changed(alice: Persona) -> None:
    for answer in (rename(alice, "Sea"), alice.client.delete(ME)):
        assert refusal(answer) == (404, "no_team")


def test_teams_know_nothing_of_each_other(alice: Persona, bob: Persona) -> None:
    sea, lake = found(alice, "Sea"), found(bob, "Lake")
    for method, body in (("patch", {"role": "admin"}), ("delete", None)):
        path = f"{ME}/members/{bob.user.pk}"
        answer = getattr(alice.client, method)(path, body, format="json")
        assert refusal(answer) == (404, "member_not_found")
    body = {"member_id": str(bob.user.pk)}
    answer = alice.client.post(f"{ME}/transfer-ownership", body, format="json")
    assert refusal(answer) == (404, "member_not_found")
    theirs = invite(bob, "dora@example.com").json()["id"]
    for answer in (
        alice.client.delete(f"{ME}/invites/{theirs}"),
        alice.client.post(f"{ME}/invites/{theirs}/resend"),
    ):
        assert refusal(answer) == (404, "invitation_not_found")
    assert (roles(sea["id"]), roles(lake["id"])) == ({"Alice": "owner"}, {"Bob": "owner"})


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("get", ""), ("post", ""), ("patch", ""), ("delete", "")),
        *(("get", "/invites"), ("post", "/invites"), ("get", "/audit"), ("post", "/leave")),
        ("post", "/transfer-ownership"),
        ("patch", "/members/0198d7a0-0000-7000-8000-000000000000"),
        ("delete", "/members/0198d7a0-0000-7000-8000-000000000000"),
        ("delete", "/invites/0198d7a0-0000-7000-8000-000000000000"),
        ("post", "/invites/0198d7a0-0000-7000-8000-000000000000/resend"),
    ],
)
def test_who_is_not_signed_in_is_refused(visitor: Any, method: str, path: str) -> None:
    assert getattr(visitor, method)(f"{ME}{path}").status_code == 401
