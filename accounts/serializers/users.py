"""A user's own view of the account."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from accounts.serializers.fields import AvatarUrlField, LocaleField, NameField, TimezoneField


class UserSerializer(serializers.ModelSerializer[User]):
    """A user in any answer."""

    avatar_url = serializers.CharField(read_only=True, help_text="Empty for none.")
    plan = serializers.CharField(read_only=True)

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
    """A user in an answer to that user."""

    class Meta(UserSerializer.Meta):
        fields = [*UserSerializer.Meta.fields, "locale", "timezone"]
        read_only_fields = fields


class ProfileChangesSerializer(serializers.Serializer[Any]):
    """The changes of a user's own profile; omitted fields stay."""

    name = NameField(required=False)
    avatar_url = AvatarUrlField(required=False)
    locale = LocaleField(required=False)
    timezone = TimezoneField(required=False)
