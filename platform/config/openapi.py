"""The machine-readable description of both interfaces, in one OpenAPI 3.1 document.

`/api` is read off its serializers by drf-spectacular, `/v1` off its own types.
"""

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema

from publicapi.v1 import openapi as v1

DETAIL = {
    "description": "Why a request to the application interface is refused.",
    "type": "object",
    "required": ["detail"],
    "properties": {
        "detail": {
            "description": "A sentence; for 402 an object with a `code` to branch on.",
            "oneOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "required": ["code", "message"],
                    "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
                },
            ],
        },
        "errors": {
            "description": "For 422: what is wrong with which value.",
            "type": "array",
            "items": {
                "type": "object",
                "required": ["loc", "msg"],
                "properties": {
                    "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
                    "msg": {"type": "string"},
                },
            },
        },
    },
}

_REFUSAL = {
    "description": "Refused, or failed.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Detail"}}},
}


class AccessTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a call to `/api` says who makes it."""

    target_class = "accounts.authentication.AccessTokenAuthentication"
    name = "accessToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


@cache
def document() -> dict[str, Any]:
    """The whole document. Parts of the two interfaces have no name in common."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    described: dict[str, Any] = generator.get_schema(public=True)  # type: ignore[no-untyped-call]
    for path in described["paths"].values():
        for operation in path.values():
            operation["responses"] |= {"4XX": _REFUSAL, "5XX": _REFUSAL}
    described["components"]["schemas"]["Detail"] = DETAIL
    public = v1.document()
    described["paths"] |= public["paths"]
    for kind, parts in public["components"].items():
        described["components"].setdefault(kind, {}).update(parts)
    return described | {"servers": [{"url": settings.PUBLIC_BASE_URL}]}


def openapi_json(request: HttpRequest) -> HttpResponse:
    """`/openapi.json`, which only deployments that are not production serve."""
    return HttpResponse(json.dumps(document()), content_type="application/json")
