"""The errors of teams."""

from common.errors import Conflict, DomainError, Forbidden, NotFound, ValidationFailed
from teams.types import (
    MAX_CHANGES_PER_DAY,
    MAX_INVITATIONS_PER_DAY,
    MAX_MEMBERS,
    MAX_PENDING,
    MAX_TEAMS_PER_DAY,
)


class NoTeam(NotFound):
    code = "no_team"
    message = "You are in no team. Create one, or accept an invitation to one."


class MemberNotFound(NotFound):
    code = "member_not_found"
    message = "Your team has no member of this id."


class InvitationNotFound(NotFound):
    """One text for every cause: unknown, used, declined, revoked, expired, or the team is gone."""

    code = "invitation_not_found"
    message = "There is no such invitation, or it is not valid any more. Ask for a new one."


class AlreadyInTeam(Conflict):
    code = "already_in_team"
    message = "You are in a team already. Leave it before you create or join another one."


class AlreadyMember(Conflict):
    """The address is one that every member of the team sees."""

    code = "already_member"
    message = "A member of your team has this address."


class TransferFirst(Conflict):
    code = "transfer_first"
    message = "You own this team, and others are in it. Transfer the ownership first, then leave."


class TeamFull(Conflict):
    code = "team_full"
    message = f"A team has at most {MAX_MEMBERS} members."


class TooManyPending(Conflict):
    code = "too_many_pending_invitations"
    message = f"A team has at most {MAX_PENDING} pending invitations. Revoke one first."


class RoleTooLow(Forbidden):
    code = "role_too_low"
    message = (
        "Your role does not allow this. The owner manages everybody, admins manage members, and "
        "only the owner transfers or deletes the team."
    )


class OwnRole(Forbidden):
    code = "own_role"
    message = "You cannot do this to yourself. Leave the team, or transfer its ownership."


class TransferToOneself(ValidationFailed):
    """The owner named themself as the new owner."""

    problem = "You own the team already. Name another member."

    def __init__(self) -> None:
        errors = [{"loc": ["member_id"], "msg": self.problem}]
        super().__init__(f"member_id: {self.problem}", errors=errors)


class AddressNotVerified(Forbidden):
    code = "address_not_verified"
    message = "Confirm your e-mail address first: the link is in a mail to you. Then accept again."


class InvitationForOther(Forbidden):
    code = "invitation_for_other_address"
    message = "This invitation was sent to another address. Sign in with the account of that one."


class TooManyInvitations(DomainError):
    code, status = "too_many_invitations", 429
    message = (
        f"You or your team have sent {MAX_INVITATIONS_PER_DAY} invitations within 24 hours, or "
        "several to this address within an hour. Wait for Retry-After seconds."
    )


class TooManyChanges(DomainError):
    code, status = "too_many_changes", 429
    message = (
        f"There were {MAX_CHANGES_PER_DAY:,} changes in your team within 24 hours. Wait for "
        "Retry-After seconds."
    )


class TooManyTeams(DomainError):
    code, status = "too_many_teams", 429
    message = (
        f"You have created {MAX_TEAMS_PER_DAY} teams within 24 hours. Wait for Retry-After seconds."
    )
