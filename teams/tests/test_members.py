"""PATCH and DELETE /api/teams/me/members/{id}"""

from dataclasses import dataclass
from typing import Any

import pytest

from conftest import Persona, persona
from teams.models import AuditEntry
from teams.tests.people import ME, add, found, refusal, roles

UNKNOWN = "0198d7a0-0000-7000-8000-000000000000"


@dataclass
class Cast:
    """A team with somebody of each role, twice where there may be two."""

    team: Any
    people: dict[str, Persona]

    def set_role(self, actor: str, subject: str, role: Any) -> Any:
        path = f"{ME}/members/{self.people[subject].user.pk}"
        return self.people[actor].client.patch(path, {"role": role}, format="json")

    def remove(self, actor: str, subject: str) -> Any:
        path = f"{ME}/members/{self.people[subject].user.pk}"
        return self.people[actor].client.delete(path)

    @property
    def roles(self) -> dict[str, str]:
        return {name.lower(): role for name, role in roles(self.team["id"]).items()}


ROLES = {
    "alice": "owner",
    "bob": "admin",
    "brenda": "admin",
    "charlie": "member",
    "carol": "member",
}


@pytest.fixture
def cast(db: None) -> Cast:
    people = {name: persona(name) for name in ROLES}
    team = found(people["alice"])
    for name, role in ROLES.items():
        if name != "alice":
            add(team, people[name], role)
    return Cast(team, people)


# Who removes whom; everybody else is refused with 403.
REMOVES = {
    *(("alice", subject) for subject in ROLES if subject != "alice"),
    *(("bob", subject) for subject in ("charlie", "carol")),
}


@pytest.mark.parametrize("actor", ["alice", "bob", "charlie"])
@pytest.mark.parametrize("subject", ROLES)
def test_the_owner_removes_anybody_else_and_admins_remove_members(
    cast: Cast, actor: str, subject: str
) -> None:
    answer = cast.remove(actor, subject)
    if (actor, subject) in REMOVES:
        assert answer.status_code == 204
        assert cast.roles == {name: role for name, role in ROLES.items() if name != subject}
        assert cast.people[subject].client.get(ME).status_code == 404
    else:
        code = "own_role" if actor == subject else "role_too_low"
        assert refusal(answer) == (403, code)
        assert cast.roles == ROLES


@pytest.mark.parametrize("role", ["admin", "member"])
@pytest.mark.parametrize("actor", ["alice", "bob", "charlie"])
@pytest.mark.parametrize("subject", ROLES)
def test_the_owner_changes_the_roles_of_others(
    cast: Cast, actor: str, subject: str, role: str
) -> None:
    answer = cast.set_role(actor, subject, role)
    if actor == subject:
        assert refusal(answer) == (403, "own_role")
    elif actor == "alice":
        assert answer.status_code == 200
        assert cast.roles == ROLES | {subject: role}
        return
    elif (actor, ROLES[subject], role) == ("bob", "member", "member"):
        assert answer.status_code == 200  # nothing changes
    else:
        assert refusal(answer) == (403, "role_too_low")
    assert cast.roles == ROLES


def test_the_answer_is_the_member_as_in_the_team(cast: Cast) -> None:
    answer = cast.set_role("alice", "charlie", "admin").json()
    assert (answer["name"], answer["role"]) == ("Charlie", "admin")
    assert answer in cast.people["alice"].client.get(ME).json()["members"]


@pytest.mark.parametrize("role", ["owner", "king", "", None, 5, ["admin"], "Admin"])
def test_a_bad_role_is_refused(cast: Cast, role: Any) -> None:
    answer = cast.set_role("alice", "charlie", role)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["role"]
    assert cast.roles == ROLES


def test_a_body_without_a_role_is_refused(cast: Cast) -> None:
    path = f"{ME}/members/{cast.people['bob'].user.pk}"
    assert cast.people["alice"].client.patch(path, {}, format="json").status_code == 422


def test_the_same_role_is_no_change(cast: Cast) -> None:
    before = AuditEntry.objects.count()
    assert cast.set_role("alice", "bob", "admin").status_code == 200
    assert AuditEntry.objects.count() == before


@pytest.mark.parametrize("member_id", [UNKNOWN, "x", "0"])
def test_an_id_of_no_member_is_not_found(cast: Cast, member_id: str) -> None:
    alice, path = cast.people["alice"], f"{ME}/members/{member_id}"
    assert alice.client.delete(path).status_code == 404
    assert alice.client.patch(path, {"role": "admin"}, format="json").status_code == 404


def test_a_new_admin_may_what_admins_may_and_a_former_one_not(cast: Cast) -> None:
    cast.set_role("alice", "charlie", "admin")
    assert cast.remove("charlie", "carol").status_code == 204
    cast.set_role("alice", "bob", "member")
    assert refusal(cast.remove("bob", "charlie")) == (403, "role_too_low")
