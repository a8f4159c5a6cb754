"""What is done in a team at the same moment from elsewhere: by the sender of mails, by operators,
and by those who close their accounts."""

import pytest

from accounts import tasks
from accounts.models import OutgoingEmail, User
from accounts.services.users import deactivate
from accounts.tests.mailbox import delivered
from teams.models import Invitation, Member, Role, Team
from teams.services import invitations, members
from teams.tests.people import ME
from teams.tests.test_at_once import BOTH_ORDERS, Act, Crew, in_order, one_after_the_other

pytestmark = pytest.mark.usefixtures("committed")


def closing(user: User) -> Act:
    """Close the account. Returns 204."""

    def close() -> int:
        deactivate(user=User.objects.get(pk=user.pk))
        return 204

    return close


def by_operator(crew: Crew, heir: User) -> Act:
    """An operator makes the member the owner. Returns whether that changed anything."""
    member = Member.objects.get(account=heir)
    return lambda: int(members.make_owner_for_operator(member=member))


# --- Accounts that are closed ---------------------------------------------------------------------


@BOTH_ORDERS
def test_creating_a_team_and_closing_the_account(is_swapped: bool) -> None:
    crew = Crew()
    create = crew.post(crew.bob, ME, {"name": "Lake"})
    answers = in_order(crew, create, closing(crew.bob), is_swapped=is_swapped, user=crew.bob)
    assert answers[1] == 204
    # Who has just created it may be out again when the answer is written.
    assert answers[0] == 401 if is_swapped else answers[0] in (201, 404)
    assert not Member.objects.filter(account=crew.bob).exists()


@BOTH_ORDERS
def test_the_owner_closes_the_account_and_the_heir_leaves(is_swapped: bool) -> None:
    crew = Crew(bob="admin", charlie="member")
    answers = in_order(crew, closing(crew.alice), crew.leave(crew.bob), is_swapped=is_swapped)
    # The heir owns the team by then, or is out of it.
    assert answers == ((204, 204) if is_swapped else (204, 409))
    assert crew.owns(crew.charlie if is_swapped else crew.bob)
    assert crew.alice.pk not in crew.roles


@BOTH_ORDERS
def test_the_owner_closes_the_account_and_transfers_the_team(is_swapped: bool) -> None:
    crew = Crew(bob="admin", charlie="member")
    transfer = crew.transfer(crew.alice, crew.charlie)
    answers = in_order(crew, closing(crew.alice), transfer, is_swapped=is_swapped)
    assert answers[0] == 204
    if not is_swapped:
        assert answers[1] == 404
    assert crew.owns(crew.charlie if is_swapped else crew.bob)


@BOTH_ORDERS
def test_the_last_two_close_their_accounts(is_swapped: bool) -> None:
    crew = Crew(bob="member")
    alice, bob = closing(crew.alice), closing(crew.bob)
    assert in_order(crew, alice, bob, is_swapped=is_swapped) == (204, 204)
    assert not Team.objects.filter(pk=crew.team.pk).exists()


# --- Mails ----------------------------------------------------------------------------------------


def invited(crew: Crew) -> Invitation:
    """An invitation of bob, whose mail waits."""
    return invitations.invite(user=crew.alice, address=crew.bob.email, role="member")


def send() -> int:
    tasks.send_emails()
    return 0


def test_a_mail_is_not_written_for_an_invitation_that_is_being_revoked() -> None:
    crew = Crew()
    invitation = invited(crew)
    answers = one_after_the_other(crew.revoke(invitation.pk), send, team=crew.team)
    assert answers == (204, 0)
    assert delivered(crew.bob.email) == []
    mail = OutgoingEmail.objects.get(address=crew.bob.email)
    assert (mail.outcome, mail.attempts, mail.error) == ("dropped", 1, "")
    invitation.refresh_from_db()
    assert (invitation.status, invitation.digest) == ("revoked", None)


def test_an_invitation_is_revoked_whose_mail_is_being_written() -> None:
    crew = Crew()
    invitation = invited(crew)
    assert one_after_the_other(send, crew.revoke(invitation.pk), team=crew.team) == (0, 204)
    invitation.refresh_from_db()
    assert (invitation.status, invitation.digest) == ("revoked", None)


# --- Operators ------------------------------------------------------------------------------------


@BOTH_ORDERS
def test_an_operator_revokes_what_is_being_accepted(is_swapped: bool) -> None:
    crew = Crew()
    invitation_id, accept = crew.invite(crew.bob)

    def revoke() -> int:
        return int(invitations.revoke_for_operator(invitation_id=invitation_id))

    answers = in_order(crew, accept, revoke, is_swapped=is_swapped)
    assert answers == ((404, True) if is_swapped else (200, False))
    assert (crew.bob.pk in crew.roles) != is_swapped


@BOTH_ORDERS
def test_an_operator_names_the_owner_while_the_team_is_transferred(is_swapped: bool) -> None:
    crew = Crew(bob="member", charlie="admin")
    transfer = crew.transfer(crew.alice, crew.bob)
    named = by_operator(crew, crew.charlie)
    answers = in_order(crew, transfer, named, is_swapped=is_swapped)
    assert answers == ((403, True) if is_swapped else (200, True))
    assert crew.owns(crew.charlie)
    assert crew.roles[crew.alice.pk] == Role.ADMIN
