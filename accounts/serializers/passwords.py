"""Bodies of what concerns passwords."""

from typing import Any

from rest_framework import serializers

from accounts.serializers.fields import AddressField, PasswordField
from common.fields import TextField


class ForgotPasswordSerializer(serializers.Serializer[Any]):
    email = AddressField()


class ResetPasswordSerializer(serializers.Serializer[Any]):
    """`token` is that of the mail."""

    token = TextField()
    password = PasswordField()


class ResetTokenSerializer(serializers.Serializer[Any]):
    token = TextField()


class ResetTokenStateSerializer(serializers.Serializer[Any]):
    """Can the token still be used?"""

    valid = serializers.BooleanField(read_only=True)


class ChangePasswordSerializer(serializers.Serializer[Any]):
    current_password = PasswordField()
    new_password = PasswordField()
