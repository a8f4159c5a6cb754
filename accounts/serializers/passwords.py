"""Bodies of endpoints about passwords."""

from typing import Any

from rest_framework import serializers

from accounts.fields import AddressField
from accounts.serializers.fields import CookieField, DeviceIdField, PasswordField
from common.fields import TextField


class ForgotPasswordSerializer(serializers.Serializer[Any]):
    email = AddressField()


class ResetPasswordSerializer(serializers.Serializer[Any]):
    """`token` is the token in the mail."""

    token = TextField()
    password = PasswordField()
    device_id = DeviceIdField()


class ResetTokenSerializer(serializers.Serializer[Any]):
    token = TextField()


class ResetTokenStateSerializer(serializers.Serializer[Any]):
    """Can the token still be used?"""

    valid = serializers.BooleanField(read_only=True)
    email = serializers.EmailField(
        read_only=True, allow_null=True, help_text="The address it was mailed to, while valid."
    )


class ChangePasswordSerializer(serializers.Serializer[Any]):
    current_password = PasswordField()
    new_password = PasswordField()
    device_id = DeviceIdField()
    cookie = CookieField()
