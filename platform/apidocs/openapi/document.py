"""The machine-readable description of both interfaces, in one OpenAPI 3.1 document.

drf-spectacular reads `/api` from its serializers; `/v1` is read from its own types.
"""

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema

import apidocs.openapi.open_objects  # noqa: F401 - registers extensions of the generator
from apidocs.examples.operations import Examples
from apidocs.openapi.errors import COMPONENTS, describe_errors
from publicapi.v1 import openapi as v1

# The tags of operations, by the first segment of the path below /api.
_TAGS = {
    "auth": ("Authentication", "Signing up, in and out; addresses and passwords."),
    "users": ("Account", "The signed-in user: profile, usage, and what may be used."),
    "billing": ("Billing", "Plans, the prepaid balance and its movements."),
    "models": ("Models", "What can be picked, what it costs, and what is left of it."),
    "agents": ("Agents", "The chat models as the signed-in user wants them."),
    "conversations": ("Conversations", "Talking to models: branches, streamed replies, sharing."),
    "spaces": ("Spaces", "Folders of conversations, with instructions of their own."),
    "images": ("Image studio", "Pictures, made by jobs."),
    "videos": ("Video studio", "Clips, made and extended by jobs."),
    "assets-3d": ("Asset studio", "3D assets, made and refined by jobs."),
    "jobs": ("Generation jobs", "The jobs of all studios."),
    "council": ("Council", "Several models answer one question side by side."),
    "project": ("Projects", "Models of several vendors work on one goal."),
    "connectors": ("Connectors", "The accounts elsewhere that the signed-in user has connected."),
    "teams": ("Teams", "The team of the signed-in user: members, roles and invitations."),
    "events": ("Events", "What changes in the lists of the signed-in user, as it changes."),
    "flags": ("Feature flags", "What operators have switched on or off for the signed-in user."),
    "cms": ("Content", "Pages, news and banners, for everybody."),
    "keys": ("API keys", "The keys with which programs call `/v1`."),
    "transcribe": ("Transcription", "Speech to text."),
    "uploads": ("Uploads", "Files that go with messages."),
    "files": ("Files", "What models made and users sent, by links that are good for a day."),
}


class AccessTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a client of `/api` authenticates."""

    target_class = "accounts.authentication.AccessTokenAuthentication"
    name = "accessToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


@cache
def document() -> dict[str, Any]:
    """The whole document. The two interfaces have no component name in common."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    described: dict[str, Any] = generator.get_schema(public=True)  # type: ignore[no-untyped-call]
    for path, operations in described["paths"].items():
        for operation in operations.values():
            operation["tags"] = [_TAGS[tag][0] for tag in operation["tags"]]
            # No authentication: generators of clients take `[{}]` for a scheme that is required.
            if operation.get("security") == [{}]:
                del operation["security"]
            describe_errors(path, operation)
    inline_blank_and_null(described["components"]["schemas"])
    public = v1.document()
    described["paths"] |= public["paths"]
    for kind, parts in [*COMPONENTS.items(), *public["components"].items()]:
        described["components"].setdefault(kind, {}).update(parts)
    tags = [*_TAGS.values(), (v1.TAG, "What speaks the OpenAI wire, called with an API key.")]
    described["tags"] = [{"name": name, "description": about} for name, about in tags]
    Examples(described).add()
    return described | {"servers": [{"url": settings.PUBLIC_BASE_URL}]}


def inline_blank_and_null(schemas: dict[str, Any]) -> None:
    """drf-spectacular makes components of the choices `""` and `null`. Say them in place: a type
    named `Null` is of no use to anybody."""
    instead = {"Blank": {"const": ""}, "Null": {"type": "null"}}
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            for number, each in enumerate(field.get("oneOf", [])):
                name = each.get("$ref", "").rpartition("/")[-1]
                field["oneOf"][number] = instead.get(name, each)
    for name in instead:
        del schemas[name]


def openapi_json(request: HttpRequest) -> HttpResponse:
    """`/openapi.json`, which production does not serve."""
    return HttpResponse(json.dumps(document()), content_type="application/json")
