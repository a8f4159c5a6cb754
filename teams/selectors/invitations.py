"""Invitations: for the managers of their team, and for whoever has the token of the mail."""

from accounts.models import User
from teams.errors import InvitationNotFound
from teams.models import Invitation, InvitationQuerySet
from teams.selectors.teams import get_managed
from teams.tokens import digests
from teams.types import MAX_TOKEN


def list_invitations(user: User) -> InvitationQuerySet:
    """The pending invitations of the user's team, expired ones included. Raises NoTeam or
    RoleTooLow."""
    team_id = get_managed(user).team_id
    return Invitation.objects.pending().filter(team=team_id).select_related("invited_by")


def find_usable(token: str) -> Invitation | None:
    """The invitation of a token, with its team and who sent it; None where it cannot be
    accepted."""
    usable = Invitation.objects.usable().select_related("team", "invited_by")
    return usable.filter(digest__in=digests(token[:MAX_TOKEN])).first()


def get_received(token: str) -> Invitation:
    """The same as `find_usable`. Raises InvitationNotFound, whatever the reason."""
    invitation = find_usable(token)
    if invitation is None:
        raise InvitationNotFound
    return invitation
