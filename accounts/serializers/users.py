"""A user as they see themselves."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from accounts.serializers.fields import AvatarUrlField, LocaleField, NameField, TimezoneField


class UserSerializer(serializers.ModelSerializer[User]):
    """What every answer says about its user. The subscription is opened by the database with the
    row."""

    avatar_url = serializers.CharField(read_only=True, help_text="Empty for none.")
    plan = serializers.CharField(source="subscription.plan_id", read_only=True)

    class Meta:
        model = User
        fields = [
            "id",
            "email",
            "name",
            "avatar_url",
            "plan",
            "email_verified",
            "is_staff",
            "created_at",
        ]
        read_only_fields = fields


class ProfileSerializer(UserSerializer):
    """The same, with what concerns only them."""

    class Meta(UserSerializer.Meta):
        fields = [*UserSerializer.Meta.fields, "locale", "timezone"]
        read_only_fields = fields


class ProfileChangesSerializer(serializers.Serializer[Any]):
    """What users may change about themselves; what is left out stays."""

    name = NameField(required=False)
    avatar_url = AvatarUrlField(required=False)
    locale = LocaleField(required=False)
    timezone = TimezoneField(required=False)
