"""Bodies of endpoints about mails."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from common.fields import TextField


class VerifyEmailSerializer(serializers.Serializer[Any]):
    """`token` is the token in the mail."""

    token = TextField()


class VerifiedEmailSerializer(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = ["email", "email_verified"]
        read_only_fields = fields


class AcceptedSerializer(serializers.Serializer[Any]):
    """The work continues; `detail` is a sentence about it."""

    detail = serializers.CharField(read_only=True)
