"""The bodies and queries of `/api/project/workspaces`."""

import re
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from common.fields import TextField, TitleField
from integrations.githosts.types import HostKind
from integrations.safe_http.client import read_url
from integrations.safe_http.errors import AddressRefused
from integrations.workspaces.types import MAX_BASE_URL, MAX_NAME, MAX_PAGE, MAX_QUERY, MAX_TOKEN

# The pages of the clouds: naming one is the same as naming none.
_CLOUDS = {
    HostKind.GITHUB: {"https://github.com", "https://api.github.com"},
    HostKind.GITLAB: {"https://gitlab.com"},
}
# A header carries it.
_TOKEN = re.compile(r"[!-~]+")


class TokenField(TextField):
    """A token as the host has issued it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_TOKEN, **options)

    def to_internal_value(self, data: Any) -> str:
        token = super().to_internal_value(data)
        if _TOKEN.fullmatch(token) is None:
            raise serializers.ValidationError("A token has letters, digits and signs alone.")
        return token


@extend_schema_serializer(component_name="WorkspaceInput")
class WorkspaceInputSerializer(serializers.Serializer[Any]):
    """An account at a host: one of your connectors, or a `provider` and a token. `base_url` is the
    address of a server of your own, like `https://gitlab.example.com`; without it, it is the host's
    cloud."""

    connector_id = serializers.UUIDField(required=False)
    provider = serializers.ChoiceField([kind.value for kind in HostKind], required=False)
    token = TokenField(write_only=True, required=False)
    base_url = TextField(
        max_length=MAX_BASE_URL, required=False, allow_blank=True, allow_null=True, default=""
    )
    name = TitleField(
        max_length=MAX_NAME, required=False, help_text="Without one, your name at the host."
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if "connector_id" in values:
            return _of_connector(values)
        for name in ("provider", "token"):
            if name not in values:
                problem = "Name a connector_id, or a provider and a token."
                raise serializers.ValidationError({name: problem})
        kind, url = HostKind(values["provider"]), (values["base_url"] or "").strip().rstrip("/")
        values["base_url"] = "" if url in _CLOUDS[kind] else _checked(url)
        return values


def _of_connector(values: dict[str, Any]) -> dict[str, Any]:
    for name in ("provider", "token", "base_url"):
        if values.pop(name, None):
            raise serializers.ValidationError({name: "The connector has this already."})
    return values


def _checked(url: str) -> str:
    """Raises ValidationError for what is no address; whether it may be called is decided when it
    is."""
    if not url:
        return ""
    try:
        parsed = read_url(url)
    except AddressRefused as error:
        raise serializers.ValidationError({"base_url": str(error)}) from None
    if parsed.query:
        raise serializers.ValidationError({"base_url": "The address has to be without a query."})
    return str(parsed).rstrip("/")


@extend_schema_serializer(component_name="WorkspaceChanges")
class WorkspaceChangesInputSerializer(serializers.Serializer[Any]):
    """Another name, or a new token of the same account at the host. A workspace on a connector has
    no token of its own."""

    name = TitleField(max_length=MAX_NAME, required=False)
    token = TokenField(write_only=True, required=False)


@extend_schema_serializer(component_name="RepositoriesQuery")
class RepositoriesQuerySerializer(serializers.Serializer[Any]):
    q = TextField(
        max_length=MAX_QUERY,
        required=False,
        allow_blank=True,
        default="",
        help_text="What the full name has in it, in capitals or not.",
    )
    page = serializers.IntegerField(min_value=1, max_value=MAX_PAGE, default=1)
