"""POST /api/teams/invites/{token}/accept"""

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from conftest import Persona
from teams.models import Invitation, Member
from teams.tests.people import (
    INVITES,
    ME,
    accept,
    add,
    client_of,
    found,
    invite,
    refusal,
    roles,
    token_for,
    verify,
)
from teams.types import MAX_MEMBERS
from tests.personas import new_user


def invited(owner: Persona, person: Persona, role: str = "member") -> str:
    """The token of a mail to a person whose address is confirmed."""
    verify(person.user)
    assert invite(owner, person.user.email, role).status_code == 201
    return token_for(person.user.email)


@pytest.mark.parametrize("role", ["member", "admin"])
def test_the_invited_person_is_in_the_team_with_the_role(
    alice: Persona, bob: Persona, role: str
) -> None:
    team = found(alice)
    answer = accept(bob, invited(alice, bob, role))
    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["role"]) == (team["id"], role)
    assert [each["name"] for each in answer.json()["members"]] == ["Alice", "Bob"]
    assert bob.client.get(ME).json() == answer.json()


def test_it_is_used_up(alice: Persona, bob: Persona) -> None:
    found(alice)
    token = invited(alice, bob)
    accept(bob, token)
    assert refusal(accept(bob, token)) == (404, "invitation_not_found")
    bob.client.post(f"{ME}/leave")
    assert accept(bob, token).status_code == 404
    assert alice.client.get(INVITES).json() == []


def test_somebody_who_signs_up_for_it_accepts_when_the_address_is_confirmed(
    alice: Persona,
) -> None:
    found(alice)
    address = "dora@example.com"
    invite(alice, address)
    token = token_for(address)
    body = {"email": address, "password": "correct horse battery staple", "name": "Dora"}
    session = APIClient().post("/api/auth/signup", body, format="json").json()
    dora = APIClient(HTTP_AUTHORIZATION=f"Bearer {session['access_token']}")
    path = f"/api/teams/invites/{token}/accept"
    answer = dora.post(path)
    assert refusal(answer) == (403, "address_not_verified")
    assert "Confirm your e-mail address" in answer.json()["detail"]
    verify(User.objects.get(email=address))
    assert dora.post(path).status_code == 200


def test_another_account_is_told_to_sign_in_with_the_invited_address(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    found(alice)
    token = invited(alice, bob)
    verify(charlie.user)
    answer = accept(charlie, token)
    assert refusal(answer) == (403, "invitation_for_other_address")
    assert "another address" in answer.json()["detail"]
    assert bob.user.email not in answer.content.decode()
    assert refusal(accept(alice, token)) == (403, "invitation_for_other_address")
    assert accept(bob, token).status_code == 200


def test_case_of_the_invited_address_does_not_matter(alice: Persona, bob: Persona) -> None:
    verify(bob.user)
    found(alice)
    invite(alice, "BOB@Example.com")
    assert accept(bob, token_for("bob@example.com")).status_code == 200


def test_whoever_is_not_signed_in_is_asked_to(
    alice: Persona, bob: Persona, visitor: APIClient
) -> None:
    found(alice)
    token = invited(alice, bob)
    assert visitor.post(f"/api/teams/invites/{token}/accept").status_code == 401
    assert accept(bob, token).status_code == 200


def test_what_cannot_be_accepted_is_refused_alike_whatever_the_reason(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    found(alice)
    used = invited(alice, bob)
    accept(bob, used)
    verify(charlie.user)
    tokens = [used, "unknown", "0" * 43, "x" * 3_000, "%00", "☃", "..", used + "x", used.upper()]
    answers = [accept(charlie, token) for token in tokens]
    for end in ("expire", "revoke", "decline", "delete"):
        token = invited(alice, charlie)
        if end == "expire":
            Invitation.objects.pending().update(expires_at=timezone.now() - timedelta(seconds=1))
        elif end == "revoke":
            [row] = alice.client.get(INVITES).json()
            alice.client.delete(f"{INVITES}/{row['id']}")
        elif end == "decline":
            charlie.client.post(f"/api/teams/invites/{token}/decline")
        else:
            alice.client.delete(ME)
        tokens.append(token)
        answers.append(accept(charlie, token))
        # So that the address is not mailed too often.
        Invitation.objects.filter(address=charlie.user.email).delete()
    assert {answer.status_code for answer in answers} == {404}
    by_us = {answer.content for token, answer in zip(tokens, answers, strict=True) if token != ".."}
    assert len(by_us) == 1
    assert not Member.objects.filter(account=charlie.user).exists()


def test_who_is_in_another_team_has_to_leave_it_first(alice: Persona, bob: Persona) -> None:
    found(alice)
    token = invited(alice, bob)
    found(bob, "Lake")
    answer = accept(bob, token)
    assert refusal(answer) == (409, "already_in_team")
    bob.client.post(f"{ME}/leave")
    assert accept(bob, token).json()["name"] == "Sea"


def test_a_full_team_takes_nobody(alice: Persona, bob: Persona) -> None:
    team = found(alice)
    token = invited(alice, bob)
    users = [new_user("member") for _ in range(MAX_MEMBERS - 1)]
    Member.objects.bulk_create(
        Member(account=user, team_id=team["id"], role="member") for user in users
    )
    assert refusal(accept(bob, token)) == (409, "team_full")
    Member.objects.filter(account=users[0]).delete()
    assert accept(bob, token).status_code == 200


def test_the_link_shows_that_the_account_belongs_to_its_address(
    alice: Persona, bob: Persona
) -> None:
    """Otherwise the first reset of the password would take the membership away."""
    found(alice)
    token = invited(alice, bob)
    User.objects.filter(pk=bob.user.pk).update(verified_by_holder=False)
    accept(bob, token)
    assert User.objects.get(pk=bob.user.pk).is_of_its_address


# --- What becomes of the invitations of somebody who may not send them any more ------------------


@pytest.mark.parametrize("how", ["leaves", "is removed", "is demoted", "closes the account"])
def test_they_are_revoked_when_the_inviter(alice: Persona, bob: Persona, how: str) -> None:
    team = found(alice)
    add(team, bob, "admin")
    dora = verify(new_user("dora"))
    invite(bob, dora.email)
    token = token_for(dora.email)
    member = f"{ME}/members/{bob.user.pk}"
    match how:
        case "leaves":
            bob.client.post(f"{ME}/leave")
        case "is removed":
            alice.client.delete(member)
        case "is demoted":
            alice.client.patch(member, {"role": "member"}, format="json")
        case _:
            bob.client.delete("/api/users/me")
    answer = client_of(dora).post(f"/api/teams/invites/{token}/accept")
    assert refusal(answer) == (404, "invitation_not_found")
    assert alice.client.get(INVITES).json() == []
    again = invite(alice, dora.email)
    assert again.status_code == 201


def test_a_former_owner_has_invited_members_and_no_admins(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    add(team, bob)
    as_member, dora = invited(alice, charlie), verify(new_user("dora"))
    invite(alice, dora.email, "admin")
    as_admin = token_for(dora.email)
    body = {"member_id": str(bob.user.pk)}
    alice.client.post(f"{ME}/transfer-ownership", body, format="json")
    answer = client_of(dora).post(f"/api/teams/invites/{as_admin}/accept")
    assert answer.status_code == 404
    assert accept(charlie, as_member).status_code == 200
    assert roles(team["id"]) == {"Alice": "admin", "Bob": "owner", "Charlie": "member"}


def test_whoever_sends_it_again_answers_for_it(alice: Persona, bob: Persona) -> None:
    add(found(alice), bob, "admin")
    dora = verify(new_user("dora"))
    row = invite(bob, dora.email).json()
    resent = alice.client.post(f"{INVITES}/{row['id']}/resend").json()
    assert resent["invited_by"]["name"] == "Alice"
    token = token_for(dora.email)
    alice.client.delete(f"{ME}/members/{bob.user.pk}")
    answer = client_of(dora).post(f"/api/teams/invites/{token}/accept")
    assert answer.status_code == 200
