"""The types of the events of teams (`teams/user_events.py`)."""

from rest_framework import serializers

from events.declarations import EventType
from teams.serializers.invitations import InvitationSerializer
from teams.serializers.teams import MemberSerializer, TeamRowSerializer

_TEAM = {"team": TeamRowSerializer()}
_ID = {"team_id": serializers.UUIDField()}
_MEMBER = {**_ID, "member": MemberSerializer()}

USER_EVENTS = [
    EventType("team.created", "you have created one", _TEAM),
    EventType("team.joined", "you have accepted an invitation", _TEAM),
    EventType("team.updated", "it was renamed", _TEAM),
    EventType("team.left", "you have left, or were removed", _ID),
    EventType("team.deleted", "it is gone", _ID),
    EventType("team.member.joined", "somebody has accepted an invitation", _MEMBER),
    EventType("team.member.updated", "their role has changed", _MEMBER),
    EventType(
        "team.member.left",
        "they have left, or were removed",
        {**_ID, "member_id": serializers.UUIDField()},
    ),
    EventType(
        "team.invite.updated",
        "an invitation was sent, or has ended; for the owner and admins",
        {**_ID, "invite": InvitationSerializer()},
    ),
]
