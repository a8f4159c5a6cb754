"""Two acts at the same moment in one team, in both orders: the second sees what the first has
done."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.models import User
from teams.models import Invitation, Member, Role, Team
from teams.services import invitations
from teams.tests.people import INVITES, ME, add_owner, client_of, token_for, verify
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url

pytestmark = pytest.mark.usefixtures("committed")

Act = Callable[[], int]
BOTH_ORDERS = pytest.mark.parametrize("is_swapped", [False, True], ids=["as listed", "swapped"])


def alone(act: Act) -> int:
    """What the act answers, in a thread of its own."""
    try:
        return act()
    finally:
        connection.close()


def one_after_the_other(
    first: Act, second: Act, *, team: Team | None = None, user: User | None = None
) -> tuple[int, int]:
    """The answers to two requests that meet at the lock of a team, or of a user, in this order."""
    table, row = ("teams_team", team) if team else ("accounts_user", user)
    assert row
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(2) as pool:
        holder.execute(f"SELECT FROM {table} WHERE id = %s FOR UPDATE", (row.pk,))
        one = pool.submit(alone, first)
        wait_until_blocked(holder, 1)
        two = pool.submit(alone, second)
        wait_until_blocked(holder, 2)
        holder.rollback()
        return one.result(), two.result()


class Crew:
    """A team of alice, with bob and charlie in it, and clients that are signed in beforehand."""

    def __init__(self, **roles: str) -> None:
        self.alice, self.bob, self.charlie = (
            verify(new_user(name)) for name in ("alice", "bob", "charlie")
        )
        self.team = add_owner(self.alice)
        for name, role in roles.items():
            Member.objects.create(account=getattr(self, name), team=self.team, role=role)
        self.clients = {user.pk: client_of(user) for user in (self.alice, self.bob, self.charlie)}

    def client(self, user: User) -> APIClient:
        return self.clients[user.pk]

    def post(self, user: User, path: str, body: Any = None) -> Act:
        return lambda: self.client(user).post(path, body, format="json").status_code

    def leave(self, user: User) -> Act:
        return self.post(user, f"{ME}/leave")

    def transfer(self, owner: User, heir: User) -> Act:
        return self.post(owner, f"{ME}/transfer-ownership", {"member_id": str(heir.pk)})

    def remove(self, user: User, member: User) -> Act:
        path = f"{ME}/members/{member.pk}"
        return lambda: self.client(user).delete(path).status_code

    def set_role(self, user: User, member: User, role: str) -> Act:
        path, body = f"{ME}/members/{member.pk}", {"role": role}
        return lambda: self.client(user).patch(path, body, format="json").status_code

    def rename(self, user: User) -> Act:
        body = {"name": user.name}
        return lambda: self.client(user).patch(ME, body, format="json").status_code

    def invite(self, user: User, role: str = "member") -> tuple[UUID, Act]:
        """An invitation of the user, and how they accept it."""
        invitation = invitations.invite(user=self.alice, address=user.email, role=role)
        return invitation.pk, self.post(user, f"/api/teams/invites/{token_for(user.email)}/accept")

    def revoke(self, invitation_id: UUID) -> Act:
        path = f"{INVITES}/{invitation_id}"
        return lambda: self.client(self.alice).delete(path).status_code

    @property
    def roles(self) -> dict[UUID, str]:
        return dict(Member.objects.filter(team=self.team).values_list("account_id", "role"))

    def owns(self, user: User) -> bool:
        """Is the user the one owner?"""
        return [pk for pk, role in self.roles.items() if role == Role.OWNER] == [user.pk]


def in_order(
    crew: Crew, one: Act, other: Act, *, is_swapped: bool, user: User | None = None
) -> tuple[int, int]:
    """The answer to `one` and that to `other`, which is first where they are swapped."""
    team = None if user else crew.team
    if is_swapped:
        answer, first = one_after_the_other(other, one, team=team, user=user)
        return first, answer
    return one_after_the_other(one, other, team=team, user=user)


def test_an_invitation_is_accepted_once() -> None:
    crew = Crew()
    _, accept = crew.invite(crew.bob)
    assert one_after_the_other(accept, accept, team=crew.team) == (200, 404)
    assert crew.roles == {crew.alice.pk: "owner", crew.bob.pk: "member"}


def test_one_person_joins_one_team() -> None:
    sea, lake = Crew(), Crew()
    _, accept_sea = sea.invite(sea.bob)
    invitations.invite(user=lake.alice, address=sea.bob.email, role="admin")
    token = token_for(sea.bob.email)
    accept_lake = sea.post(sea.bob, f"/api/teams/invites/{token}/accept")
    assert one_after_the_other(accept_sea, accept_lake, user=sea.bob) == (200, 409)
    assert sea.bob.pk in sea.roles
    assert sea.bob.pk not in lake.roles


def test_one_person_creates_one_team() -> None:
    crew = Crew()
    create = crew.post(crew.bob, ME, {"name": "Lake"})
    assert one_after_the_other(create, create, user=crew.bob) == (201, 409)


@BOTH_ORDERS
def test_creating_and_accepting(is_swapped: bool) -> None:
    crew = Crew()
    _, accept = crew.invite(crew.bob)
    create = crew.post(crew.bob, ME, {"name": "Lake"})
    answers = in_order(crew, create, accept, is_swapped=is_swapped, user=crew.bob)
    assert answers == ((409, 200) if is_swapped else (201, 409))
    assert Member.objects.filter(account=crew.bob).count() == 1


@BOTH_ORDERS
def test_accepting_and_revoking(is_swapped: bool) -> None:
    crew = Crew()
    invitation_id, accept = crew.invite(crew.bob)
    revoke = crew.revoke(invitation_id)
    answers = in_order(crew, accept, revoke, is_swapped=is_swapped)
    assert answers == ((404, 204) if is_swapped else (200, 404))
    assert (crew.bob.pk in crew.roles) != is_swapped
    status = Invitation.objects.get(pk=invitation_id).status
    assert status == ("revoked" if is_swapped else "accepted")


@BOTH_ORDERS
def test_accepting_and_inviting_again(is_swapped: bool) -> None:
    """The link of the earlier mail is dead at once."""
    crew = Crew()
    _, accept = crew.invite(crew.bob)
    again = crew.post(crew.alice, INVITES, {"email": crew.bob.email})
    answers = in_order(crew, accept, again, is_swapped=is_swapped)
    assert answers == ((404, 201) if is_swapped else (200, 409))


@BOTH_ORDERS
def test_accepting_and_deleting_the_team(is_swapped: bool) -> None:
    crew = Crew()
    _, accept = crew.invite(crew.bob)
    answers = in_order(
        crew,
        accept,
        lambda: crew.client(crew.alice).delete(ME).status_code,
        is_swapped=is_swapped,
    )
    # Who has just joined may be out again when the answer is written.
    assert answers[1] == 204
    assert answers[0] == 404 if is_swapped else answers[0] in (200, 404)
    assert not Member.objects.filter(account=crew.bob).exists()


@BOTH_ORDERS
def test_accepting_and_closing_the_account(is_swapped: bool) -> None:
    crew = Crew()
    _, accept = crew.invite(crew.bob)

    def close() -> int:
        return crew.client(crew.bob).delete("/api/users/me").status_code

    answers = in_order(crew, accept, close, is_swapped=is_swapped, user=crew.bob)
    assert answers[1] == 204
    assert answers[0] == 401 if is_swapped else answers[0] in (200, 404)
    assert crew.bob.pk not in crew.roles


@BOTH_ORDERS
@pytest.mark.parametrize("loses", ["the address", "its confirmation"])
def test_accepting_while_the_account_loses(is_swapped: bool, loses: str) -> None:
    crew = Crew()
    _, accept = crew.invite(crew.bob)

    def change() -> int:
        row = User.objects.filter(pk=crew.bob.pk)
        if loses == "the address":
            return row.update(email=f"elsewhere-{crew.bob.pk}@example.com")
        return row.update(email_verified=False)

    answers = in_order(crew, accept, change, is_swapped=is_swapped, user=crew.bob)
    assert answers == ((403, 1) if is_swapped else (200, 1))
    assert (crew.bob.pk in crew.roles) != is_swapped


@BOTH_ORDERS
def test_leaving_and_becoming_the_owner(is_swapped: bool) -> None:
    crew = Crew(bob="member")
    leave, transfer = crew.leave(crew.bob), crew.transfer(crew.alice, crew.bob)
    answers = in_order(crew, leave, transfer, is_swapped=is_swapped)
    assert answers == ((409, 200) if is_swapped else (204, 404))
    assert crew.owns(crew.bob if is_swapped else crew.alice)


@BOTH_ORDERS
def test_the_last_two_leave(is_swapped: bool) -> None:
    crew = Crew(bob="admin")
    owner, admin = crew.leave(crew.alice), crew.leave(crew.bob)
    answers = in_order(crew, owner, admin, is_swapped=is_swapped)
    assert answers == ((204, 204) if is_swapped else (409, 204))
    assert Team.objects.filter(pk=crew.team.pk).exists() != is_swapped
    assert crew.roles == ({} if is_swapped else {crew.alice.pk: "owner"})


@BOTH_ORDERS
def test_removing_somebody_and_changing_their_role(is_swapped: bool) -> None:
    crew = Crew(bob="member", charlie="admin")
    remove = crew.remove(crew.charlie, crew.bob)
    promote = crew.set_role(crew.alice, crew.bob, "admin")
    answers = in_order(crew, remove, promote, is_swapped=is_swapped)
    # An admin is above the admin who wants to remove a member.
    assert answers == ((403, 200) if is_swapped else (204, 404))
    assert crew.roles.get(crew.bob.pk) == ("admin" if is_swapped else None)


@BOTH_ORDERS
def test_two_transfers(is_swapped: bool) -> None:
    crew = Crew(bob="member", charlie="admin")
    to_bob = crew.transfer(crew.alice, crew.bob)
    to_charlie = crew.transfer(crew.alice, crew.charlie)
    answers = in_order(crew, to_bob, to_charlie, is_swapped=is_swapped)
    assert answers == ((403, 200) if is_swapped else (200, 403))
    assert crew.owns(crew.charlie if is_swapped else crew.bob)
    assert crew.roles[crew.alice.pk] == "admin"


@BOTH_ORDERS
def test_transferring_and_deleting_the_team(is_swapped: bool) -> None:
    crew = Crew(bob="member")
    delete = crew.post(crew.alice, f"{ME}/leave")
    transfer = crew.transfer(crew.alice, crew.bob)
    answers = in_order(crew, delete, transfer, is_swapped=is_swapped)
    assert answers == ((204, 200) if is_swapped else (409, 200))
    assert crew.owns(crew.bob)


@BOTH_ORDERS
def test_two_admins_cannot_remove_each_other_by_being_quick(is_swapped: bool) -> None:
    crew = Crew(bob="admin", charlie="admin")
    remove = crew.remove(crew.bob, crew.charlie)
    demote = crew.set_role(crew.alice, crew.charlie, "member")
    answers = in_order(crew, remove, demote, is_swapped=is_swapped)
    assert answers == ((204, 200) if is_swapped else (403, 200))


def test_an_address_that_is_invited_twice_has_one_invitation() -> None:
    crew = Crew(bob="admin")
    body = {"email": f"dora-{crew.team.pk}@example.com"}
    both = (crew.post(user, INVITES, body) for user in (crew.alice, crew.bob))
    assert one_after_the_other(*both, team=crew.team) == (201, 201)
    assert Invitation.objects.filter(team=crew.team).count() == 1


def test_many_acts_at_once_leave_one_owner_and_never_wait_for_each_other() -> None:
    """No deadlock, which would be a 503: everybody locks in the same order."""
    crew = Crew(bob="admin", charlie="admin")
    people = (crew.alice, crew.bob, crew.charlie)
    acts = [crew.transfer(one, other) for one in people for other in people]
    acts += [crew.set_role(one, other, "admin") for one in people for other in people]
    acts += [crew.rename(user) for user in people]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(alone, acts * 3))
    assert set(answers) <= {200, 403, 422}
    assert sorted(crew.roles.values()) == ["admin", "admin", "owner"]
