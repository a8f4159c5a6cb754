"""People who share spaces with their team, and what stands in such a space."""

from typing import Any

from accounts.models import User
from conftest import Persona
from conversations.models import Conversation, Space
from conversations.tests.rows import talk
from teams.models import Member
from teams.tests.people import ME, add, add_owner, found

SPACES = "/api/spaces"


def team_of(owner: Persona, *others: Persona) -> Any:
    """A team of these people."""
    team = found(owner)
    for other in others:
        add(team, other)
    return team


def share(owner: Persona, space: Space, shared: str | None) -> Any:
    """The answer to opening a space, or to taking it back."""
    return owner.client.patch(f"{SPACES}/{space.pk}", {"shared": shared}, format="json")


def new_shared(owner: Persona, shared: str) -> tuple[Space, Conversation]:
    """A space of somebody with a team, opened, and a conversation in it."""
    space = Space.objects.create(account=owner.user, name="Sea")
    answer = share(owner, space, shared)
    assert answer.status_code == 200, answer.content
    return space, talk(owner.user, "How deep?", "Very.", space=space)


def remove(owner: Persona, member: Persona) -> None:
    answer = owner.client.delete(f"{ME}/members/{member.user.pk}")
    assert answer.status_code == 204


def leave(person: Persona) -> None:
    assert person.client.post(f"{ME}/leave").status_code == 204


def put_together(owner: User, *others: User) -> None:
    """Make a team of users, without a request."""
    team = add_owner(owner)
    for other in others:
        Member.objects.create(account=other, team=team, role="member")


def new_shared_row(owner: User, shared: str, *said: str) -> tuple[Space, Conversation]:
    """A shared space with a conversation, without a request."""
    space = Space.objects.create(account=owner, name="Sea", shared=shared)
    return space, talk(owner, *said, space=space)
