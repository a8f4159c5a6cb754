"""A user's own view of the account."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from accounts.serializers.fields import AvatarUrlField, LocaleField, NameField, TimezoneField


class UserSerializer(serializers.Serializer[User]):
    """A user in any answer."""

    id = serializers.UUIDField(read_only=True)
    email = serializers.EmailField(read_only=True)
    name = serializers.CharField(read_only=True)
    avatar_url = serializers.CharField(read_only=True, help_text="Empty for none.")
    plan = serializers.CharField(read_only=True)
    email_verified = serializers.BooleanField(read_only=True)
    is_staff = serializers.BooleanField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class ProfileSerializer(UserSerializer):
    """A user in an answer to that user."""

    locale = serializers.CharField(read_only=True)
    timezone = serializers.CharField(read_only=True)


class ProfileChangesSerializer(serializers.Serializer[Any]):
    """The changes of a user's own profile; omitted fields stay."""

    name = NameField(required=False)
    avatar_url = AvatarUrlField(required=False)
    locale = LocaleField(required=False)
    timezone = TimezoneField(required=False)
