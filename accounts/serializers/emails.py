"""Bodies of what is done by mail."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from common.fields import TextField


class VerifyEmailSerializer(serializers.Serializer[Any]):
    """`token` is that of the mail."""

    token = TextField()


class VerifiedEmailSerializer(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = ["email", "email_verified"]
        read_only_fields = fields


class AcceptedSerializer(serializers.Serializer[Any]):
    """Work that goes on: a sentence about it."""

    detail = serializers.CharField(read_only=True)
