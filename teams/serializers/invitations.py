"""Invitations in the answers of `/api`. None has a token: only mails have."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.models import User
from teams.models import Invitation
from teams.rights import GIVEN_ROLES

_EXPIRED = "expired"


@extend_schema_serializer(component_name="TeamInviter")
class InviterSerializer(serializers.Serializer[User]):
    """Who has sent an invitation."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="TeamInvite")
class InvitationSerializer(serializers.Serializer[Any]):
    """An invitation, for the owner and admins. `sent_at` is when its newest mail went out, null
    while the mail waits."""

    id = serializers.UUIDField(read_only=True)
    email = serializers.CharField(source="address", read_only=True)
    role = serializers.ChoiceField(GIVEN_ROLES, read_only=True)
    status = serializers.SerializerMethodField()
    invited_by = InviterSerializer(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    sent_at = serializers.DateTimeField(read_only=True, allow_null=True)
    expires_at = serializers.DateTimeField(read_only=True)

    @extend_schema_field(
        serializers.ChoiceField([*Invitation.Status.choices, (_EXPIRED, "Expired")])
    )
    def get_status(self, invitation: Invitation) -> str:
        return _EXPIRED if invitation.is_expired else str(invitation.status)


@extend_schema_serializer(component_name="ReceivedTeamInvite")
class ReceivedInvitationSerializer(serializers.Serializer[Invitation]):
    """An invitation, for whoever has its mail. `email` is the invited address."""

    team_name = serializers.CharField(source="team.name", read_only=True)
    role = serializers.ChoiceField(GIVEN_ROLES, read_only=True)
    invited_by_name = serializers.CharField(source="invited_by.name", read_only=True)
    email = serializers.CharField(source="address", read_only=True)
    expires_at = serializers.DateTimeField(read_only=True)
