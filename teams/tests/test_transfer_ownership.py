"""POST /api/teams/me/transfer-ownership"""

from typing import Any

import pytest

from conftest import Persona
from teams.tests.people import ME, add, found, invite, refusal, roles
from tests.personas import new_user


def transfer(person: Persona, member_id: Any) -> Any:
    body = {"member_id": member_id}
    return person.client.post(f"{ME}/transfer-ownership", body, format="json")


@pytest.mark.parametrize("role", ["member", "admin"])
def test_a_member_becomes_the_owner_and_the_owner_an_admin(
    alice: Persona, bob: Persona, role: str
) -> None:
    team = found(alice)
    add(team, bob, role)
    answer = transfer(alice, str(bob.user.pk))
    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["role"]) == (team["id"], "admin")
    assert roles(team["id"]) == {"Alice": "admin", "Bob": "owner"}
    assert refusal(transfer(alice, str(bob.user.pk))) == (403, "role_too_low")
    assert transfer(bob, str(alice.user.pk)).status_code == 200
    assert roles(team["id"]) == {"Alice": "owner", "Bob": "admin"}


def test_only_the_owner_transfers(alice: Persona, bob: Persona, charlie: Persona) -> None:
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    for person in (bob, charlie):
        assert refusal(transfer(person, str(person.user.pk))) == (403, "role_too_low")
    assert roles(team["id"])["Alice"] == "owner"


def test_not_to_oneself_and_not_to_a_stranger(alice: Persona, bob: Persona) -> None:
    team = found(alice)
    answer = transfer(alice, str(alice.user.pk))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["member_id"]
    for stranger in (str(bob.user.pk), team["id"], "0198d7a0-0000-7000-8000-000000000000"):
        assert refusal(transfer(alice, stranger)) == (404, "member_not_found")
    assert roles(team["id"]) == {"Alice": "owner"}


def test_not_to_somebody_who_is_invited_or_in_another_team(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team, other = found(alice), found(bob, "Lake")
    add(other, charlie)
    dora = new_user("dora")
    invite(alice, dora.email, "admin")
    for stranger in (bob.user, charlie.user, dora):
        assert refusal(transfer(alice, str(stranger.pk))) == (404, "member_not_found")
    assert roles(team["id"]) == {"Alice": "owner"}
    assert roles(other["id"]) == {"Bob": "owner", "Charlie": "member"}


@pytest.mark.parametrize("member_id", [None, "", "bob", 5, ["x"], {"id": 1}, True])
def test_a_bad_body_is_refused(alice: Persona, member_id: Any) -> None:
    found(alice)
    answer = transfer(alice, member_id)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["member_id"]
    assert alice.client.post(f"{ME}/transfer-ownership", {}, format="json").status_code == 422


def test_who_is_in_no_team_transfers_none(alice: Persona, bob: Persona) -> None:
    assert refusal(transfer(alice, str(bob.user.pk))) == (404, "no_team")
