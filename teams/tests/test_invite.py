"""POST /api/teams/me/invites"""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import OutgoingEmail
from accounts.services import emails
from accounts.tests.mailbox import delivered, token_in
from common.ids import uuid7
from conftest import Persona
from teams.models import AuditEntry, Invitation, Member
from teams.services import invitations
from teams.tests.people import INVITES, accept, add, found, invite, refusal, token_for, verify
from teams.types import MAX_INVITATIONS_PER_DAY, MAX_MEMBERS, MAX_PENDING
from tests.personas import new_user

DORA = "dora@example.com"


def test_a_mail_with_a_link_is_sent(alice: Persona) -> None:
    found(alice)
    answer = invite(alice, DORA)
    assert answer.status_code == 201
    [message] = delivered(DORA)
    assert len(token_in(message)) == 43
    assert "/invitations?token=" in str(message.body)
    assert "7 days" in str(message.body)
    [invitation] = Invitation.objects.all()
    assert timedelta(days=6, hours=23) < invitation.expires_at - timezone.now() < timedelta(days=7)


def test_the_answer_is_the_invitation_without_a_token(alice: Persona) -> None:
    found(alice)
    body = invite(alice, DORA, "admin").json()
    assert {name: body[name] for name in ("email", "role", "status", "sent_at")} == {
        "email": DORA,
        "role": "admin",
        "status": "pending",
        "sent_at": None,
    }
    assert body["invited_by"] == {"id": str(alice.user.pk), "name": "Alice"}
    assert body.keys() == {
        *("id", "email", "role", "status", "invited_by", "created_at", "sent_at", "expires_at")
    }


def test_without_a_role_it_is_for_a_member(alice: Persona) -> None:
    found(alice)
    answer = alice.client.post(INVITES, {"email": DORA}, format="json")
    assert answer.json()["role"] == "member"


def test_no_account_and_no_membership_is_made(alice: Persona, bob: Persona) -> None:
    team = found(alice)
    invite(alice, DORA)
    invite(alice, bob.user.email)
    assert [member.account for member in Member.objects.filter(team=team["id"])] == [alice.user]
    assert bob.client.get("/api/teams/me").status_code == 404


def test_no_mail_says_what_users_have_written(alice: Persona) -> None:
    """Whoever invites a stranger cannot write to them."""
    alice.user.name = "Win at evil.example"
    alice.user.save()
    found(alice, "Prizes at evil.example")
    invite(alice, DORA)
    [message] = delivered(DORA)
    assert "evil" not in message.message().as_string()


def test_only_a_digest_of_the_token_is_stored(alice: Persona) -> None:
    found(alice)
    invite(alice, DORA)
    token = token_for(DORA)
    for rows in (Invitation.objects.values(), OutgoingEmail.objects.values()):
        assert token not in str(list(rows))
    digest = bytes(Invitation.objects.get().digest or b"")
    assert token.encode() not in digest
    assert len(digest) == 32


def test_case_and_spaces_of_the_address_do_not_matter(alice: Persona) -> None:
    found(alice)
    first = invite(alice, DORA).json()
    again = invite(alice, " Dora@Example.COM ").json()
    assert (again["id"], again["email"]) == (first["id"], DORA)


def test_whoever_is_invited_again_gets_a_new_link_and_the_old_one_is_dead_at_once(
    alice: Persona, bob: Persona
) -> None:
    verify(bob.user)
    found(alice)
    invite(alice, bob.user.email)
    old = token_for(bob.user.email)
    answer = invite(alice, bob.user.email, "admin")
    assert answer.status_code == 201
    assert refusal(accept(bob, old)) == (404, "invitation_not_found")
    new = token_for(bob.user.email)
    assert refusal(accept(bob, old)) == (404, "invitation_not_found")
    assert accept(bob, new).json()["role"] == "admin"
    assert Invitation.objects.count() == 1


def test_a_mail_that_the_outbox_sends_again_has_a_token_of_its_own(
    alice: Persona, bob: Persona
) -> None:
    verify(bob.user)
    found(alice)
    invite(alice, bob.user.email)
    old = token_for(bob.user.email)
    row = OutgoingEmail.objects.get(address=bob.user.email, kind="team_invitation")
    emails.send_again(email=row)
    new = token_for(bob.user.email)
    assert new != old
    assert accept(bob, old).status_code == 404
    assert accept(bob, new).status_code == 200


def test_a_mail_of_an_invitation_that_has_ended_is_not_sent(alice: Persona) -> None:
    found(alice)
    invitation = invite(alice, DORA).json()
    alice.client.delete(f"{INVITES}/{invitation['id']}")
    assert delivered(DORA) == []
    assert OutgoingEmail.objects.get(address=DORA).outcome == "dropped"


def test_admins_invite_members_and_members_nobody(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    team = found(alice)
    add(team, bob, "admin")
    add(team, charlie)
    assert invite(bob, DORA).status_code == 201
    assert refusal(invite(bob, "emil@example.com", "admin")) == (403, "role_too_low")
    assert refusal(invite(charlie, "emil@example.com")) == (403, "role_too_low")


def test_an_admin_does_not_change_an_invitation_of_an_admin(alice: Persona, bob: Persona) -> None:
    add(found(alice), bob, "admin")
    invite(alice, DORA, "admin")
    assert refusal(invite(bob, DORA, "member")) == (403, "role_too_low")
    assert Invitation.objects.get().role == "admin"


def test_an_admin_does_not_make_an_admin_of_somebody_who_is_invited(
    alice: Persona, bob: Persona
) -> None:
    add(found(alice), bob, "admin")
    invite(alice, DORA)
    assert refusal(invite(bob, DORA, "admin")) == (403, "role_too_low")
    assert Invitation.objects.get().role == "member"


def test_nobody_is_invited_as_owner(alice: Persona) -> None:
    found(alice)
    answer = invite(alice, DORA, "owner")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["role"]


def test_who_is_in_no_team_invites_nobody(alice: Persona) -> None:
    assert refusal(invite(alice, DORA)) == (404, "no_team")


def test_a_member_is_not_invited_again(alice: Persona, bob: Persona) -> None:
    add(found(alice), bob)
    for address in (alice.user.email, bob.user.email.upper()):
        assert refusal(invite(alice, address)) == (409, "already_member")


def test_an_address_gets_three_mails_an_hour_and_the_inviter_is_told(alice: Persona) -> None:
    found(alice)
    answers = [invite(alice, DORA) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [201, 201, 201, 429]
    assert refusal(answers[-1]) == (429, "too_many_invitations")
    assert answers[-1]["Retry-After"] == "3600"
    assert token_for(DORA)


def test_other_teams_do_not_keep_back_an_invitation(
    alice: Persona, bob: Persona, charlie: Persona
) -> None:
    for stranger in (bob, charlie):
        found(stranger)
        for _ in range(3):
            invite(stranger, DORA)
    found(alice)
    assert invite(alice, DORA).status_code == 201


def test_a_mailbox_gets_ten_of_these_mails_an_hour_whatever_its_addresses(alice: Persona) -> None:
    found(alice)
    mail.outbox.clear()
    for n in range(12):
        assert invite(alice, f"dora+{n}@example.com").status_code == 201
    delivered(DORA)
    assert len([each for each in mail.outbox if each.to[0].startswith("dora+")]) == 10
    unsent = [each for each in alice.client.get(INVITES).json() if each["sent_at"] is None]
    assert len(unsent) == 2


def sent_before(alice: Persona, count: int, **fields: object) -> None:
    """As if so many invitations had been sent an hour ago."""
    hour_ago = timezone.now() - timedelta(hours=1)
    values = {"team_id": uuid7(), "actor": alice.user, "created_at": hour_ago} | fields
    AuditEntry.objects.bulk_create(
        AuditEntry(id=uuid7(hour_ago), action="invitation_sent", **values) for _ in range(count)
    )


@pytest.mark.parametrize("whose", ["team", "person"])
def test_a_team_and_a_person_send_so_many_invitations_a_day(
    alice: Persona, bob: Persona, whose: str
) -> None:
    team = found(alice)
    add(team, bob, "admin")
    of_team = {"team_id": team["id"], "actor": bob.user} if whose == "team" else {}
    sent_before(alice, MAX_INVITATIONS_PER_DAY - 1, **of_team)
    assert invite(alice, DORA).status_code == 201
    answer = invite(alice, "emil@example.com")
    assert refusal(answer) == (429, "too_many_invitations")
    assert 22 * 3_600 < int(answer["Retry-After"]) <= 23 * 3_600
    if whose == "person":
        assert invite(bob, "emil@example.com").status_code == 201


def test_a_team_has_so_many_pending_invitations(alice: Persona) -> None:
    team = found(alice)
    now = timezone.now()
    Invitation.objects.bulk_create(
        Invitation(
            team_id=team["id"],
            address=f"dora-{n}@example.com",
            role="member",
            invited_by=alice.user,
            expires_at=now + timedelta(days=1 if n else -1),
        )
        for n in range(MAX_PENDING + 1)
    )
    assert refusal(invite(alice, DORA)) == (409, "too_many_pending_invitations")
    assert refusal(invite(alice, "dora-0@example.com")) == (409, "too_many_pending_invitations")
    assert invite(alice, "dora-1@example.com").status_code == 201
    Invitation.objects.get(address="dora-2@example.com").delete()
    assert invite(alice, DORA).status_code == 201


def test_a_full_team_invites_nobody(alice: Persona) -> None:
    team = found(alice)
    users = [new_user("member") for _ in range(MAX_MEMBERS - 1)]
    Member.objects.bulk_create(
        Member(account=user, team_id=team["id"], role="member") for user in users
    )
    assert refusal(invite(alice, DORA)) == (409, "team_full")


def test_an_inviter_who_is_suspended_has_sent_nothing_that_works(
    alice: Persona, bob: Persona
) -> None:
    verify(bob.user)
    found(alice)
    invite(alice, bob.user.email)
    token = token_for(bob.user.email)
    alice.user.status = "suspended"
    alice.user.save()
    assert accept(bob, token).status_code == 404


def test_a_refused_invitation_leaves_the_earlier_link_as_it_was(
    alice: Persona, bob: Persona
) -> None:
    verify(bob.user)
    found(alice)
    for _ in range(3):
        invite(alice, bob.user.email)
    token = token_for(bob.user.email)
    assert invite(alice, bob.user.email).status_code == 429
    assert accept(bob, token).status_code == 200


def test_a_closed_account_keeps_back_no_invitation_to_its_address(
    alice: Persona, bob: Persona
) -> None:
    verify(bob.user)
    found(alice)
    invitations.invite(user=alice.user, address=bob.user.email, role="member")
    assert bob.client.delete("/api/users/me").status_code == 204
    assert token_for(bob.user.email)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"email": None},
        {"email": ""},
        {"email": 5},
        {"email": ["dora@example.com"]},
        {"email": "dora"},
        {"email": "dora@localhost"},
        {"email": '"dora"@example.com'},
        {"email": "döra@example.com"},
        {"email": "a" * 250 + "@example.com"},
        {"email": "dora@example.com\r\nBcc: emil@example.com"},
        {"email": DORA, "role": "king"},
        {"email": DORA, "role": None},
        {"email": DORA, "role": ["member"]},
        {"email": DORA, "role": "Admin"},
    ],
)
def test_a_bad_body_is_refused(alice: Persona, body: object) -> None:
    found(alice)
    answer = alice.client.post(INVITES, body, format="json")
    assert answer.status_code == 422, answer.content
    assert not Invitation.objects.exists()
