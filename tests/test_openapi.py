"""`/openapi.json`: one valid document of both interfaces, true of `/api`, and not in production.

That it is true of `/v1` is checked with every answer of its tests (publicapi/tests/v1/wire.py).
"""

import json
import re
from typing import Any

import httpx
import jsonschema_rs
import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from openapi_spec_validator import OpenAPIV31SpecValidator
from rest_framework.test import APIClient

from accounts.models import User
from accounts.tests.mailbox import mailed_token
from ai.catalog.param_union import order_fields
from ai.catalog.types import Modality
from apidocs import write
from apidocs.openapi.document import document
from billing.errors import (
    FeatureRequired,
    FreeLimit,
    FreeModelLocked,
    InsufficientBalance,
    InsufficientForRequest,
    PaymentRequired,
    PlanRequired,
)
from billing.services.balance import change_plan
from billing.types import Funds
from common import envelope
from conftest import Persona
from conversations.models import Attachment
from conversations.tests.rows import talk
from devserver.paths import ROOT
from media.files.models import Upload
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
    "EMAIL_URL": "smtp+tls://mail.example.com",
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


def test_every_schema_is_one_of_json_schema_2020_12() -> None:
    """The validator of the document does not look into what OpenAPI does not know."""
    whole = document()
    for name, schema in whole["components"]["schemas"].items():
        assert jsonschema_rs.meta.is_valid(schema), name
        jsonschema_rs.Draft202012Validator({**schema, "components": whole["components"]})


def test_every_reference_finds_a_component_and_every_component_is_referred_to() -> None:
    whole = document()
    referred = set(re.findall(r'"#/components/(\w+/[\w-]+)"', json.dumps(whole)))
    components = {
        f"{kind}/{name}"
        for kind, named in whole["components"].items()
        if kind != "securitySchemes"  # these are named, not referred to
        for name in named
    }
    assert referred == components


def test_every_operation_has_a_tag_and_a_scheme_of_the_document() -> None:
    whole = document()
    tags = [tag["name"] for tag in whole["tags"]]
    operations = [each for path in whole["paths"].values() for each in path.values()]
    assert {tag for each in operations for tag in each["tags"]} == {*tags}
    assert len(tags) == len({*tags})
    used = {name for each in operations for way in each.get("security", []) for name in way}
    assert used == whole["components"]["securitySchemes"].keys()


def test_every_part_of_a_path_is_a_parameter() -> None:
    for path, operations in document()["paths"].items():
        for operation in operations.values():
            parameters = operation.get("parameters", [])
            named = {each["name"] for each in parameters if each["in"] == "path"}
            assert named == set(re.findall(r"{(\w+)}", path)), path
            assert len(parameters) == len({(each["in"], each["name"]) for each in parameters})


def test_production_serves_neither_it_nor_its_pages(
    simulator: RunningSimulator, committed: None
) -> None:
    with running_web(simulator, **PRODUCTION) as web:
        assert httpx.get(f"{web.url}/v1/models").status_code == 200
        for path in ("/openapi.json", "/asyncapi.json", "/docs", "/redoc"):
            assert httpx.get(f"{web.url}{path}").status_code == 404


def test_what_is_kept_beside_the_code_is_true() -> None:
    kept = (ROOT / "docs" / "openapi.json").read_text()
    assert kept == write.openapi_text(), "The interfaces have changed: run `make openapi`."


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


def test_no_path_of_the_application_interface_has_a_version() -> None:
    paths = [path for path in document()["paths"] if path.startswith("/api/")]
    assert paths
    assert [path for path in paths if re.search(r"/v\d+(/|$)", path)] == []


def test_every_operation_has_a_name_and_a_summary_of_its_own() -> None:
    operations = [each for path in document()["paths"].values() for each in path.values()]
    for field in ("operationId", "summary"):
        said = [operation[field] for operation in operations]
        assert [each for each in said if not each or said.count(each) > 1] == []


def test_every_answer_is_listed_by_its_status() -> None:
    for path in document()["paths"].values():
        for operation in path.values():
            assert all(re.fullmatch(r"\d{3}", status) for status in operation["responses"])
            assert {"400", "429", "500", "503"} <= operation["responses"].keys()


@pytest.mark.parametrize("status", ["402", "409", "429", "503"])
def test_an_answer_that_may_ask_to_wait_has_the_header_for_it(status: str) -> None:
    operations = [each for path in document()["paths"].values() for each in path.values()]
    answers = [each["responses"][status] for each in operations if status in each["responses"]]

    assert answers
    assert all("retry-after" in map(str.lower, _whole(each)["headers"]) for each in answers)


@pytest.mark.parametrize(
    "error",
    [
        FreeLimit(limit=10, window_hours=4, used=10, reset_at="2026-11-21T16:00:00Z"),
        FreeModelLocked(plan="free", free_models=["smollm2-135m"]),
        PlanRequired(plan="free", feature="council"),
        FeatureRequired(plan="starter", feature="video", required_plan="pro"),
        InsufficientBalance(model_key="gpt-6-luna", funds=Funds(0, 0), needed=1),
        InsufficientForRequest(funds=Funds(7, 2), needed=7, afford_usd=0.0),
    ],
    ids=lambda error: error.code,
)
def test_each_cause_of_a_402_is_described_with_its_fields(error: PaymentRequired) -> None:
    body = json.loads(envelope.answer(error).content)
    schema = {"$ref": "#/components/schemas/PaymentRequired"}
    _closed(schema).validate(body)
    del body["detail"]["needed_usd"]
    assert not _closed(schema).is_valid(body)


def test_limits_are_published() -> None:
    schemas = document()["components"]["schemas"]
    chat, images = schemas["ChatBody"]["properties"], schemas["ImagesBody"]["properties"]
    assert chat["messages"]["maxItems"] == 200
    assert images["prompt"]["maxLength"] == 4_000
    texts = schemas["EmbeddingsBody"]["properties"]["input"]["anyOf"]
    assert [text.get("maxLength") or text["maxItems"] for text in texts] == [12_000, 256]


@pytest.mark.parametrize(
    ("name", "modality"), [("ImageOrder", "image"), ("VideoOrder", "video"), ("AssetOrder", "3d")]
)
def test_orders_are_described_with_the_parameters_of_all_models(
    name: str, modality: Modality
) -> None:
    order = document()["components"]["schemas"][name]
    own = order["properties"].keys() - {"model", "prompt"}
    assert own == order_fields(modality).keys()
    assert order["additionalProperties"] is True


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
        described = _whole(document()["paths"][template][method]["responses"][str(status)])
        if "content" not in described:
            assert response.content == b""
            return None
        schema = described["content"][response["content-type"]]["schema"]
        answer = json.loads(response.content)
        _closed(schema).validate(answer)
        return answer


def _whole(response: dict[str, Any]) -> dict[str, Any]:
    """The response that a reference stands for."""
    *_, name = response.get("$ref", "").split("/")
    return document()["components"]["responses"][name] if name else response


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


@pytest.mark.django_db
def test_exports_answer_as_described(alice: Persona) -> None:
    api = CheckedClient()
    api.sign_in(alice.signed_in.access_token)
    sea = talk(alice.user, "How deep?", "Very.", title="The sea")
    upload = Upload.objects.create(
        account=alice.user, name="a.txt", media_type="text/plain", is_text=True, size=7
    )
    Attachment.objects.create(message=sea.messages.order_by("id")[0], upload=upload)
    one = "/api/conversations/{conversation_id}"
    api.send("get", one, 200, conversation_id=str(sea.pk))
    exported = api.send(
        "get", f"{one}/export", 200, {"format": "json"}, conversation_id=str(sea.pk)
    )
    assert exported["messages"][0]["attachments"]


@pytest.mark.django_db
def test_teams_answer_as_described() -> None:
    alice, bob = CheckedClient(), CheckedClient()
    users = {}
    for name, api in (("alice", alice), ("bob", bob)):
        address = {"email": f"{name}@example.com", "password": "correct horse battery staple"}
        signed_in = api.send("post", "/api/auth/signup", 201, address)
        api.sign_in(signed_in["access_token"])
        users[name] = signed_in["user"]
    me, invites, received = "/api/teams/me", "/api/teams/me/invites", "/api/teams/invites/{token}"
    alice.send("get", me, 404)
    alice.send("post", me, 422, {"name": ""})
    alice.send("post", me, 201, {"name": "Sea"})
    alice.send("post", me, 409, {"name": "Sea"})
    alice.send("get", me, 200)
    alice.send("patch", me, 200, {"name": "Lake"})
    invite = alice.send("post", invites, 201, {"email": users["bob"]["email"]})
    alice.send("post", invites, 409, {"email": users["alice"]["email"]})
    alice.send("post", f"{invites}/{{invite_id}}/resend", 200, invite_id=invite["id"])
    alice.send("get", invites, 200)
    token = mailed_token("/invitations", users["bob"]["email"])
    bob.send("get", received, 200, token=token)
    bob.send("get", received, 404, token="unknown")
    bob.send("post", f"{received}/accept", 403, token=token)
    User.objects.filter(email=users["bob"]["email"]).update(email_verified=True)
    bob.send("post", f"{received}/accept", 200, token=token)
    bob.send("post", f"{received}/decline", 404, token=token)
    member = f"{me}/members/{{member_id}}"
    alice.send("patch", member, 200, {"role": "admin"}, member_id=users["bob"]["id"])
    alice.send("post", f"{me}/leave", 409)
    alice.send("post", f"{me}/transfer-ownership", 200, {"member_id": users["bob"]["id"]})
    alice.send("get", f"{me}/audit", 200)
    alice.send("delete", member, 403, member_id=users["bob"]["id"])
    bob.send("delete", member, 204, member_id=users["alice"]["id"])
    bob.send("delete", f"{invites}/{{invite_id}}", 404, invite_id=invite["id"])
    bob.send("post", f"{me}/leave", 204)
