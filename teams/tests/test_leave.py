"""POST /api/teams/me/leave"""

from conftest import Persona
from teams.models import Invitation, Team
from teams.tests.people import ME, add, found, invite, refusal, roles


def test_who_leaves_is_in_no_team(alice: Persona, bob: Persona, charlie: Persona) -> None:
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    for person in (bob, charlie):
        answer = person.client.post(f"{ME}/leave")
        assert (answer.status_code, answer.content) == (204, b"")
        assert person.client.get(ME).status_code == 404
        assert refusal(person.client.post(f"{ME}/leave")) == (404, "no_team")
    assert roles(team["id"]) == {"Alice": "owner"}


def test_an_owner_with_others_in_the_team_transfers_it_first(alice: Persona, bob: Persona) -> None:
    team = found(alice)
    add(team, bob)
    answer = alice.client.post(f"{ME}/leave")
    assert refusal(answer) == (409, "transfer_first")
    assert "Transfer the ownership first" in answer.json()["detail"]
    assert roles(team["id"]) == {"Alice": "owner", "Bob": "member"}
    body = {"member_id": str(bob.user.pk)}
    assert alice.client.post(f"{ME}/transfer-ownership", body, format="json").status_code == 200
    assert alice.client.post(f"{ME}/leave").status_code == 204
    assert roles(team["id"]) == {"Bob": "owner"}


def test_the_last_member_takes_the_team_along(alice: Persona) -> None:
    found(alice)
    invite(alice, "dora@example.com")
    assert alice.client.post(f"{ME}/leave").status_code == 204
    assert not Team.objects.exists()
    assert not Invitation.objects.exists()


def test_who_has_left_joins_or_creates_another_one(alice: Persona, bob: Persona) -> None:
    add(found(alice), bob)
    bob.client.post(f"{ME}/leave")
    assert found(bob, "Lake")["role"] == "owner"
