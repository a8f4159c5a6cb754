"""Bodies of `/api/auth`."""

from typing import Any

from rest_framework import serializers

from accounts import tokens
from accounts.models import User
from accounts.types import SignedIn
from common.fields import TextField


class PasswordField(TextField):
    """A password as typed. The bound keeps the work of hashing it small."""

    def __init__(self) -> None:
        super().__init__(max_length=1024, trim_whitespace=False)


class SignUpSerializer(serializers.Serializer[Any]):
    email = serializers.EmailField(max_length=254)
    password = PasswordField()
    name = TextField(max_length=200, required=False, allow_blank=True)


class SignInSerializer(serializers.Serializer[Any]):
    email = TextField()
    password = PasswordField()


class RefreshSerializer(serializers.Serializer[Any]):
    refresh_token = TextField()


class UserSerializer(serializers.ModelSerializer[User]):
    """A user as they see themselves. The subscription is opened by the database with the row."""

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


class TokenPairSerializer(serializers.Serializer[SignedIn]):
    """What every way of signing in answers; `expires_in` is in seconds, of the access token."""

    access_token = serializers.CharField(read_only=True)
    refresh_token = serializers.CharField(read_only=True)
    token_type = serializers.CharField(default="bearer", read_only=True)
    expires_in = serializers.SerializerMethodField()
    user = UserSerializer(read_only=True)

    def get_expires_in(self, signed_in: SignedIn) -> int:
        return int(tokens.ACCESS_LIFETIME.total_seconds())
