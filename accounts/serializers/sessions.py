"""Bodies of all ways of signing in."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.serializers import ValidationError

from accounts.fields import AddressField
from accounts.models import UserSession
from accounts.serializers.fields import CookieField, DeviceIdField, NameField, PasswordField
from accounts.serializers.users import UserSerializer
from accounts.types import SignedIn
from common.fields import TextField


class SignUpSerializer(serializers.Serializer[Any]):
    email = AddressField()
    password = PasswordField()
    name = NameField(required=False)
    device_id = DeviceIdField()
    cookie = CookieField()


class SignInSerializer(serializers.Serializer[Any]):
    email = TextField()
    password = PasswordField()
    device_id = DeviceIdField()
    cookie = CookieField()


@extend_schema_serializer(component_name="GoogleSignIn")
class IdTokenSerializer(serializers.Serializer[Any]):
    id_token = TextField()
    nonce = TextField(
        required=False,
        max_length=255,
        trim_whitespace=False,
        help_text="What the page gave to Google's button; then the token has to carry it.",
    )
    device_id = DeviceIdField()
    cookie = CookieField()


@extend_schema_serializer(component_name="RefreshInput")
class RefreshSerializer(serializers.Serializer[Any]):
    """With `cookie`, the token is in the cookie."""

    refresh_token = TextField(required=False, help_text="Required, unless `cookie` is true.")
    cookie = CookieField()

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        problem = ""
        if "refresh_token" not in values and not values["cookie"]:
            problem = str(self.fields["refresh_token"].error_messages["required"])
        elif "refresh_token" in values and values["cookie"]:
            problem = "Leave it out: with `cookie` it is read there."
        if problem:
            raise ValidationError({"refresh_token": problem})
        return values


class TokenPairSerializer(serializers.Serializer[SignedIn]):
    """The answer of every sign-in; `expires_in` is in seconds, of the access token."""

    access_token = serializers.CharField(read_only=True)
    refresh_token = serializers.CharField(
        read_only=True, allow_null=True, help_text="Null where it is in the cookie."
    )
    token_type = serializers.CharField(default="bearer", read_only=True)
    expires_in = serializers.IntegerField(read_only=True)
    user = UserSerializer(read_only=True)


class SessionSerializer(serializers.Serializer[Any]):
    """A session as its user sees it. `context["current"]` is the id of the session of the
    request."""

    id = serializers.UUIDField(read_only=True)
    current = serializers.SerializerMethodField(help_text="Is it the one that asks?")
    client = serializers.CharField(
        read_only=True, help_text="A readable name of the program, as it says; empty for none."
    )
    ip = serializers.CharField(
        source="client_ip",
        read_only=True,
        help_text="The address, or the network of an IPv6 address, of the last sign-in or refresh.",
    )
    created_at = serializers.DateTimeField(read_only=True)
    last_used_at = serializers.DateTimeField(
        source="rotated_at",
        read_only=True,
        help_text="When it was last given tokens. A session in use is refreshed once an hour.",
    )

    def get_current(self, session: UserSession) -> bool:
        return bool(session.pk == self.context["current"])
