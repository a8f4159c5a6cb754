"""What every way of signing in takes and answers."""

from typing import Any

from rest_framework import serializers

from accounts import tokens
from accounts.serializers.fields import AddressField, NameField, PasswordField
from accounts.serializers.users import UserSerializer
from accounts.types import SignedIn
from common.fields import TextField


class SignUpSerializer(serializers.Serializer[Any]):
    email = AddressField()
    password = PasswordField()
    name = NameField(required=False)


class SignInSerializer(serializers.Serializer[Any]):
    email = TextField()
    password = PasswordField()


class IdTokenSerializer(serializers.Serializer[Any]):
    id_token = TextField()


class RefreshSerializer(serializers.Serializer[Any]):
    refresh_token = TextField()


class TokenPairSerializer(serializers.Serializer[SignedIn]):
    """What every way of signing in answers; `expires_in` is in seconds, of the access token."""

    access_token = serializers.CharField(read_only=True)
    refresh_token = serializers.CharField(read_only=True)
    token_type = serializers.CharField(default="bearer", read_only=True)
    expires_in = serializers.SerializerMethodField()
    user = UserSerializer(read_only=True)

    def get_expires_in(self, signed_in: SignedIn) -> int:
        return int(tokens.ACCESS_LIFETIME.total_seconds())
