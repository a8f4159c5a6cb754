"""The ways in, as a page for signing in is told of them."""

from typing import Any

from rest_framework import serializers

from accounts.selectors.sign_in_options import SignInOptions


class GoogleAuthorizationSerializer(serializers.Serializer[Any]):
    """Where a page sends people who sign in with Google. It adds `redirect_uri`, `state` and
    `nonce` to the query, with `response_type=id_token` and `scope=openid email profile`."""

    authorize_url = serializers.CharField(read_only=True)
    client_id = serializers.CharField(read_only=True)


class DemoCredentialsSerializer(serializers.Serializer[Any]):
    """The demo user of a development machine."""

    email = serializers.CharField(read_only=True)
    password = serializers.CharField(read_only=True)


class SignInOptionsSerializer(serializers.Serializer[SignInOptions]):
    """What a page for signing in offers."""

    sign_up = serializers.BooleanField(read_only=True, help_text="Can new accounts be made?")
    google = GoogleAuthorizationSerializer(
        read_only=True, allow_null=True, help_text="Null: nobody signs in with Google here."
    )
    demo = DemoCredentialsSerializer(
        read_only=True, allow_null=True, help_text="Null but in development."
    )
