"""Events of teams in the streams of their members."""

from uuid import UUID

from events.types import USER, NewEvent
from teams.models import Invitation, Member, Team
from teams.serializers.invitations import InvitationSerializer
from teams.serializers.teams import MemberSerializer, TeamRowSerializer


def created(team: Team) -> NewEvent:
    """For who has created it."""
    return NewEvent("team.created", _team(team), USER)


def joined(team: Team) -> NewEvent:
    """For who has accepted an invitation."""
    return NewEvent("team.joined", _team(team), USER)


def updated(team: Team) -> NewEvent:
    return NewEvent("team.updated", _team(team), USER)


def left(team_id: UUID) -> NewEvent:
    """For who has left, or was removed."""
    return NewEvent("team.left", {"team_id": team_id}, USER)


def deleted(team_id: UUID) -> NewEvent:
    """For everybody who was in it."""
    return NewEvent("team.deleted", {"team_id": team_id}, USER)


def member_joined(member: Member) -> NewEvent:
    return NewEvent("team.member.joined", _member(member), USER)


def member_updated(member: Member) -> NewEvent:
    """The role has changed."""
    return NewEvent("team.member.updated", _member(member), USER)


def member_left(member: Member) -> NewEvent:
    data = {"team_id": member.team_id, "member_id": member.account_id}
    return NewEvent("team.member.left", data, USER)


def invite_updated(invitation: Invitation) -> NewEvent:
    """For owner and admins. The invitation was sent, or it has ended."""
    shown = InvitationSerializer(invitation).data
    data = {"team_id": invitation.team_id, "invite": shown}
    return NewEvent("team.invite.updated", data, USER)


def _team(team: Team) -> dict[str, object]:
    return {"team": TeamRowSerializer(team).data}


def _member(member: Member) -> dict[str, object]:
    return {"team_id": member.team_id, "member": MemberSerializer(member).data}
