"""What people do in teams, over HTTP, and what stands in the database afterwards."""

from typing import Any

from rest_framework.test import APIClient

from accounts.models import User
from accounts.tests.mailbox import mailed_token
from conftest import Persona
from teams.models import Member, Role, Team
from tests.personas import authorization

ME = "/api/teams/me"
INVITES = f"{ME}/invites"


def client_of(user: User) -> APIClient:
    """A client that is signed in as that user."""
    return APIClient(HTTP_AUTHORIZATION=authorization(user)["Authorization"])


def verify(user: User) -> User:
    """The user, whose address is known to be theirs."""
    user.email_verified = user.verified_by_holder = True
    user.save(update_fields=["email_verified", "verified_by_holder"])
    return user


def found(owner: Persona, name: str = "Sea") -> Any:
    """The team that they have created."""
    answer = owner.client.post(ME, {"name": name}, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()


def invite(person: Persona, address: str, role: str = "member") -> Any:
    """The answer to an invitation."""
    return person.client.post(INVITES, {"email": address, "role": role}, format="json")


def token_for(address: str) -> str:
    """The token in the newest mail to that address."""
    return mailed_token("/invitations", address)


def accept(person: Persona, token: str) -> Any:
    return person.client.post(f"/api/teams/invites/{token}/accept")


def add(team: Any, person: Persona, role: str = "member") -> None:
    """Put somebody into a team, as if they had accepted an invitation."""
    Member.objects.create(account=person.user, team_id=team["id"], role=role)


def add_owner(user: User, name: str = "Sea") -> Team:
    """A team that the user owns."""
    team = Team.objects.create(name=name)
    Member.objects.create(account=user, team=team, role=Role.OWNER)
    return team


def roles(team_id: Any) -> dict[str, str]:
    """The roles in a team, by the names of the members."""
    members = Member.objects.filter(team=team_id).select_related("account")
    return {member.account.name: member.role for member in members}


def refusal(answer: Any) -> tuple[int, str]:
    """The status and the code of an error."""
    return answer.status_code, answer.json()["code"]
