"""Bodies of endpoints about mails."""

from typing import Any

from rest_framework import serializers

from accounts.models import User
from common.fields import TextField


class VerifyEmailSerializer(serializers.Serializer[Any]):
    """`token` is the token in the mail."""

    token = TextField()


class VerifiedEmailSerializer(serializers.Serializer[User]):
    email = serializers.EmailField(read_only=True)
    email_verified = serializers.BooleanField(read_only=True)


class AcceptedSerializer(serializers.Serializer[Any]):
    """The work continues; `detail` is a sentence about it."""

    detail = serializers.CharField(read_only=True)
