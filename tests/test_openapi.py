"""`/openapi.json`: one valid document of both interfaces, true of `/api`, and not in production.

That it is true of `/v1` is checked with every answer of its tests (publicapi/tests/v1/wire.py).
"""

import json
from typing import Any

import httpx
import jsonschema_rs
import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from openapi_spec_validator import OpenAPIV31SpecValidator
from rest_framework.test import APIClient

from accounts.models import User
from billing.services.balance import change_plan
from config.openapi import document
from publicapi.v1 import openapi as v1
from publicapi.v1.app import MODEL_ROUTE, ROUTES
from publicapi.v1.operations import OPERATIONS
from simulator.process import RunningSimulator
from tests.service import Web, running_web

SECRETS = {name: f"{name} of more than 32 characters" for name in ("SECRET_KEY", "API_KEY_PEPPER")}
PRODUCTION = {
    **SECRETS,
    "DJANGO_SETTINGS_MODULE": "config.settings.prod",
    "ALLOWED_HOSTS": "127.0.0.1",
    "PUBLIC_BASE_URL": "https://example.com",
    "EMAIL_URL": "smtp://mail.example.com",
    "DEFAULT_FROM_EMAIL": "noreply@example.com",
    "GOOGLE_JWKS_URL": "https://keys.example.com",
    "SIMULATOR_URL": "",
    "SIMULATED_PROVIDERS": "",
}


def test_what_is_served_is_a_valid_document(web: Web) -> None:
    response = httpx.get(f"{web.url}/openapi.json")
    assert response.headers["content-type"] == "application/json"
    OpenAPIV31SpecValidator(response.json()).validate()
    assert response.json()["paths"].keys() == document()["paths"].keys()


def test_production_does_not_serve_it(simulator: RunningSimulator, committed: None) -> None:
    with running_web(simulator, **PRODUCTION) as web:
        assert httpx.get(f"{web.url}/v1/models").status_code == 200
        assert httpx.get(f"{web.url}/openapi.json").status_code == 404


def test_nothing_about_the_application_interface_is_guessed() -> None:
    with GENERATOR_STATS.silence():
        document.__wrapped__()
    assert not GENERATOR_STATS


def test_the_two_interfaces_share_no_name() -> None:
    public = v1.document()
    whole = document()
    assert len(whole["paths"]) == len(set(whole["paths"]))
    for kind, parts in public["components"].items():
        assert {name: whole["components"][kind][name] for name in parts} == parts


def test_every_endpoint_of_the_public_interface_is_described_and_no_other() -> None:
    served = {(path, method) for path, methods in ROUTES.items() for method in methods}
    served |= {("/v1/models/{model}", method) for method in MODEL_ROUTE}
    described = {(operation.path, operation.method) for operation in OPERATIONS}
    heads = {(path, "HEAD") for path, method in described if method == "GET"}
    assert described | heads == served


def test_limits_are_published() -> None:
    schemas = document()["components"]["schemas"]
    chat, images = schemas["ChatBody"]["properties"], schemas["ImagesBody"]["properties"]
    assert chat["messages"]["maxItems"] == 200
    assert images["prompt"]["maxLength"] == 4_000
    texts = schemas["EmbeddingsBody"]["properties"]["input"]["anyOf"]
    assert [text.get("maxLength") or text["maxItems"] for text in texts] == [12_000, 256]


# --- The answers of the application interface ---------------------------------------------------


class CheckedClient:
    """A visitor of `/api` who holds every answer against the document."""

    def __init__(self) -> None:
        self._client = APIClient()

    def sign_in(self, access_token: str) -> None:
        self._client.credentials(HTTP_AUTHORIZATION=f"Bearer {access_token}")

    def send(
        self, method: str, template: str, status: int, body: Any = None, **parameters: str
    ) -> Any:
        """The JSON of an answer, checked; None where it has no body."""
        path = template.format(**parameters)
        response = getattr(self._client, method)(path, body, format="json")
        assert response.status_code == status, response.content
        responses = document()["paths"][template][method]["responses"]
        described = responses.get(str(status)) or responses[f"{status // 100}XX"]
        if "content" not in described:
            assert response.content == b""
            return None
        schema = described["content"][response["content-type"]]["schema"]
        answer = json.loads(response.content)
        _closed(schema).validate(answer)
        return answer


def _closed(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """A validator for which a field that is not described is wrong."""
    components = json.loads(json.dumps(document()["components"]))
    for described in components["schemas"].values():
        if described.get("type") == "object":
            described["additionalProperties"] = False
    return jsonschema_rs.Draft202012Validator({**schema, "components": components})


@pytest.mark.django_db
def test_the_application_interface_answers_as_described() -> None:
    api = CheckedClient()
    password = "correct horse battery staple"
    address = {"email": "alice@example.com", "password": password}
    api.send("post", "/api/auth/signup", 201, {**address, "name": "Alice"})
    api.send("post", "/api/auth/signup", 409, address)
    api.send("post", "/api/auth/signup", 422, {"email": "alice"})
    api.send("post", "/api/auth/login", 401, {**address, "password": "wrong"})
    api.send("get", "/api/auth/me", 401)
    tokens = api.send("post", "/api/auth/login", 200, address)
    tokens = api.send("post", "/api/auth/refresh", 200, {"refresh_token": tokens["refresh_token"]})
    api.sign_in(tokens["access_token"])
    api.send("get", "/api/auth/me", 200)

    api.send("post", "/api/keys", 403, {"name": "laptop"})
    change_plan(account=User.objects.get(email=address["email"]), plan="max")
    key = api.send("post", "/api/keys", 201, {"name": "laptop", "monthly_spend_cap_usd": 1})
    api.send("post", "/api/keys", 422, {"name": "laptop", "monthly_spend_cap_usd": 0.001})
    api.send("get", "/api/keys", 200)
    one = "/api/keys/{key_id}"
    api.send("patch", one, 200, {"monthly_spend_cap_usd": None}, key_id=key["id"])
    api.send("delete", one, 204, key_id=key["id"])
    api.send("patch", one, 409, {"name": "phone"}, key_id=key["id"])
    api.send("delete", one, 404, key_id=tokens["user"]["id"])
    api.send("post", "/api/auth/logout", 204)
