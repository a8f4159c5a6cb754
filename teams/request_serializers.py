"""The bodies of `/api/teams`."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from accounts.fields import AddressField
from common.fields import IdField, TitleField
from common.titles import shows_something
from teams.models import Role
from teams.rights import GIVEN_ROLES
from teams.types import MAX_NAME


class TeamNameField(TitleField):
    """The name of a team: one line in any script, without control and format characters."""

    def __init__(self) -> None:
        super().__init__(max_length=MAX_NAME)

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if not shows_something(name):
            self.fail("blank")
        return name


class TeamInputSerializer(serializers.Serializer[Any]):
    """The name of a team."""

    name = TeamNameField()


@extend_schema_serializer(component_name="TeamInviteInput")
class InviteInputSerializer(serializers.Serializer[Any]):
    """Whom to invite, and with which role. Nobody is invited as owner."""

    email = AddressField()
    role = serializers.ChoiceField(GIVEN_ROLES, default=Role.MEMBER)

    def validate_email(self, address: str) -> str:
        return address.lower()


@extend_schema_serializer(component_name="TeamMemberInput")
class RoleInputSerializer(serializers.Serializer[Any]):
    """The new role. The role of owner is transferred instead."""

    role = serializers.ChoiceField(GIVEN_ROLES)


@extend_schema_serializer(component_name="TeamTransferInput")
class TransferInputSerializer(serializers.Serializer[Any]):
    """The new owner."""

    member_id = IdField()
