"""GET /api/teams/me/invites, DELETE .../{id} and POST .../{id}/resend"""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conftest import Persona
from teams import tasks
from teams.models import Invitation
from teams.tests.people import INVITES, accept, add, found, invite, refusal, token_for, verify
from teams.types import ENDED_INVITATIONS_KEPT, MAX_PENDING

DORA = "dora@example.com"


def test_owner_and_admins_see_pending_invitations_newest_first(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    sent = [invite(alice, DORA).json(), invite(bob, "emil@example.com").json()]
    listed = alice.client.get(INVITES).json()
    assert listed == sent[::-1]
    assert bob.client.get(INVITES).json() == listed
    assert refusal(charlie.client.get(INVITES)) == (403, "role_too_low")


def test_it_never_has_a_token(alice: Persona) -> None:
    found(alice)
    invite(alice, DORA)
    token = token_for(DORA)
    answer = alice.client.get(INVITES)
    assert token not in answer.content.decode()
    assert answer.json()[0]["sent_at"] is not None


def test_it_is_paged_as_all_lists_are(alice: Persona) -> None:
    found(alice)
    ids = [invite(alice, f"dora-{n}@example.com").json()["id"] for n in range(3)]
    answer = alice.client.get(INVITES, {"limit": 2})
    assert [each["id"] for each in answer.json()] == [ids[2], ids[1]]
    assert 'rel="next"' in answer["Link"]
    rest = alice.client.get(INVITES, {"before": ids[1]}).json()
    assert [each["id"] for each in rest] == [ids[0]]
    assert alice.client.get(INVITES, {"limit": 0}).status_code == 422


def test_a_long_list_takes_as_many_statements_as_a_short_one(alice: Persona) -> None:
    team = found(alice)
    counts = []
    for count in (1, MAX_PENDING - 1):
        Invitation.objects.bulk_create(
            Invitation(
                team_id=team["id"],
                address=f"{count}-{number}@example.com",
                role="member",
                invited_by=alice.user,
                expires_at=timezone.now() + timedelta(days=1),
            )
            for number in range(count)
        )
        with CaptureQueriesContext(connection) as queries:
            alice.client.get(INVITES)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert len(alice.client.get(INVITES).json()) == MAX_PENDING


def test_an_expired_one_is_shown_as_such_and_can_be_sent_again(
    alice: Persona, bob: Persona
) -> None:
    verify(bob.user)
    found(alice)
    invite(alice, bob.user.email)
    old = token_for(bob.user.email)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    [row] = alice.client.get(INVITES).json()
    assert row["status"] == "expired"
    answer = alice.client.post(f"{INVITES}/{row['id']}/resend")
    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["status"]) == (row["id"], "pending")
    assert accept(bob, old).status_code == 404
    assert accept(bob, token_for(bob.user.email)).status_code == 200


def test_a_revoked_one_is_dead(alice: Persona, bob: Persona) -> None:
    verify(bob.user)
    found(alice)
    row = invite(alice, bob.user.email).json()
    token = token_for(bob.user.email)
    path = f"{INVITES}/{row['id']}"
    assert alice.client.delete(path).status_code == 204
    assert accept(bob, token).status_code == 404
    for answer in (alice.client.delete(path), alice.client.post(f"{path}/resend")):
        assert refusal(answer) == (404, "invitation_not_found")


def test_admins_manage_the_invitations_of_members_alone(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    of_admin = invite(alice, DORA, "admin").json()["id"]
    of_member = invite(alice, "emil@example.com").json()["id"]
    for answer in (
        bob.client.delete(f"{INVITES}/{of_admin}"),
        bob.client.post(f"{INVITES}/{of_admin}/resend"),
        charlie.client.delete(f"{INVITES}/{of_member}"),
        charlie.client.post(f"{INVITES}/{of_member}/resend"),
    ):
        assert refusal(answer) == (403, "role_too_low")
    assert bob.client.post(f"{INVITES}/{of_member}/resend").status_code == 200
    assert bob.client.delete(f"{INVITES}/{of_member}").status_code == 204


@pytest.mark.parametrize("invite_id", ["0198d7a0-0000-7000-8000-000000000000", "x", "0", "%00"])
def test_an_id_of_no_invitation_is_not_found(alice: Persona, invite_id: str) -> None:
    found(alice)
    assert alice.client.delete(f"{INVITES}/{invite_id}").status_code == 404
    assert alice.client.post(f"{INVITES}/{invite_id}/resend").status_code == 404


def test_sending_again_counts_as_inviting_again(alice: Persona) -> None:
    found(alice)
    row = invite(alice, DORA).json()
    path = f"{INVITES}/{row['id']}/resend"
    codes = [alice.client.post(path).status_code for _ in range(3)]
    assert codes == [200, 200, 429]


def test_ended_and_long_expired_ones_are_deleted_after_a_month(alice: Persona) -> None:
    team = found(alice)
    now = timezone.now()
    for days in (1, -1):
        then = now - ENDED_INVITATIONS_KEPT + timedelta(hours=days)
        fields = {"team_id": team["id"], "role": "member", "invited_by": alice.user}
        Invitation.objects.create(**fields, address=f"a{days}@example.com", expires_at=then)
        Invitation.objects.create(
            **fields,
            address=f"b{days}@example.com",
            expires_at=now,
            status="revoked",
            ended_at=then,
        )
    tasks.purge()
    kept = set(Invitation.objects.values_list("address", flat=True))
    assert kept == {"a1@example.com", "b1@example.com"}
