"""Teams, members and the audit log in the answers of `/api`."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from accounts.models import User
from common.fields import WordsField
from teams.models import AuditEntry, Member, Role, Team


@extend_schema_serializer(component_name="TeamMember")
class MemberSerializer(serializers.Serializer[Member]):
    """A member. `id` is the user's id."""

    id = serializers.UUIDField(source="account_id", read_only=True)
    name = serializers.CharField(source="account.name", read_only=True)
    email = serializers.CharField(source="account.email", read_only=True)
    avatar_url = WordsField(source="account.avatar_url")
    role = serializers.ChoiceField(Role.choices, read_only=True)
    joined_at = serializers.DateTimeField(read_only=True)


@extend_schema_serializer(component_name="TeamRow")
class TeamRowSerializer(serializers.Serializer[Team]):
    """What an event brings of a team."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


@extend_schema_serializer(component_name="Team")
class TeamSerializer(serializers.Serializer[Member]):
    """Your team, from your membership. `role` is yours; `members` are in the order in which they
    joined."""

    id = serializers.UUIDField(source="team.id", read_only=True)
    name = serializers.CharField(source="team.name", read_only=True)
    role = serializers.ChoiceField(Role.choices, read_only=True)
    members = MemberSerializer(source="team.listed_members", many=True, read_only=True)
    created_at = serializers.DateTimeField(source="team.created_at", read_only=True)


@extend_schema_serializer(component_name="TeamPerson")
class PersonSerializer(serializers.Serializer[User]):
    """Somebody who is, or was, in the team."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    email = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="TeamAuditEntry")
class AuditEntrySerializer(serializers.Serializer[Any]):
    """What was done. `actor` is null for an operator of the platform, and for whoever declines an
    invitation; `subject` is the member concerned, `email` an invited address, `before` and `after`
    are the role or the name of the team. Each is null where there is none."""

    id = serializers.UUIDField(read_only=True)
    action = serializers.ChoiceField(AuditEntry.Action.choices, read_only=True)
    actor = PersonSerializer(read_only=True, allow_null=True)
    subject = PersonSerializer(read_only=True, allow_null=True)
    email = WordsField(source="address")
    before = WordsField()
    after = WordsField()
    created_at = serializers.DateTimeField(read_only=True)
