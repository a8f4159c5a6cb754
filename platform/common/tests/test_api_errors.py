"""How `/api` answers errors: always JSON, always `{detail}`."""

import os
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from psycopg.errors import DiskFull, UndefinedTable
from pytest_django import Settings
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIClient, APIRequestFactory
from rest_framework.views import APIView

from common import request_line
from common.errors import Conflict, DomainError, NotFound, Unauthenticated, ValidationFailed
from common.request_line import RequestLine


class PaymentRequired(DomainError):
    code, status = "insufficient_balance", 402
    message = "Top up first."


def answer(error: Exception) -> Any:
    """What a view that raises `error` answers."""

    class View(APIView):
        authentication_classes = ()
        permission_classes = ()

        def get(self, request: Request) -> Response:
            raise error

    response = View.as_view()(APIRequestFactory().get("/"))
    response.render()
    return response


def test_a_refusal_keeps_its_status_its_sentence_and_its_code() -> None:
    response = answer(NotFound("There is no such thing."))
    assert response.status_code == 404
    assert response.data == {"detail": "There is no such thing.", "code": "not_found"}


def test_further_fields_stand_beside_the_detail() -> None:
    response = answer(Conflict("Busy.", run="r1"))
    assert response.data == {"detail": "Busy.", "code": "conflict", "run": "r1"}


def test_when_to_come_back_is_a_header() -> None:
    assert answer(Conflict(retry_after=7))["Retry-After"] == "7"
    assert "Retry-After" not in answer(Conflict())


def test_a_402_has_a_detail_to_branch_on() -> None:
    response = answer(PaymentRequired(model="gpt-6-luna"))
    assert response.status_code == 402
    assert response.data == {
        "detail": {
            "code": "insufficient_balance",
            "message": "Top up first.",
            "model": "gpt-6-luna",
        }
    }


def test_a_401_says_how_to_authenticate() -> None:
    assert answer(Unauthenticated())["WWW-Authenticate"] == 'Bearer realm="api"'


def test_a_failed_validation_names_each_value_and_reads_as_a_sentence() -> None:
    class Item(serializers.Serializer[Any]):
        size = serializers.IntegerField()

    class Order(serializers.Serializer[Any]):
        items = Item(many=True)
        tags = serializers.ListField(child=serializers.CharField())

        def validate(self, attrs: Any) -> Any:
            raise serializers.ValidationError("Nothing fits.")

    order = Order(data={"items": [{"size": 1}, {"size": "x"}], "tags": ["a", None]})
    order.is_valid()
    response = answer(serializers.ValidationError(order.errors))
    assert response.status_code == 422
    assert response.data == {
        "detail": "items.1.size: A valid integer is required.",
        "code": "validation_failed",
        "errors": [
            {"loc": ["items", 1, "size"], "msg": "A valid integer is required."},
            {"loc": ["tags", 1], "msg": "This field may not be null."},
        ],
    }
    general = Order(data={"items": [], "tags": []})
    general.is_valid()
    response = answer(serializers.ValidationError(general.errors))
    assert response.data == {
        "detail": "Nothing fits.",
        "code": "validation_failed",
        "errors": [{"loc": [], "msg": "Nothing fits."}],
    }


def test_a_failed_validation_names_the_first_50_values() -> None:
    errors = answer(serializers.ValidationError({"tags": ["Wrong."] * 60})).data["errors"]
    assert errors == [{"loc": ["tags"], "msg": "Wrong."}] * 50


def test_a_services_validation_looks_the_same() -> None:
    assert answer(ValidationFailed.of("name", "Too long.")).data == {
        "detail": "name: Too long.",
        "code": "validation_failed",
        "errors": [{"loc": ["name"], "msg": "Too long."}],
    }


def test_what_nobody_foresaw_is_a_500_that_tells_nothing() -> None:
    response = answer(RuntimeError("secret"))
    assert response.status_code == 500
    assert response.data.keys() == {"detail", "code"}
    assert "secret" not in response.data["detail"]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (RuntimeError(), "RuntimeError"),
        (UndefinedTable(), "UndefinedTable"),
        (DiskFull(), "DiskFull"),
    ],
)
def test_the_line_of_a_failed_request_names_the_exception(error: Exception, cause: str) -> None:
    line = RequestLine(method="GET")
    request_line.begin(line)
    assert answer(error).data["code"] == line.code
    assert line.cause == cause


def test_what_a_database_says_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    assert answer(DiskFull("no space left")).status_code == 503
    assert "database.failed" in caplog.text
    assert "no space left" in caplog.text


@pytest.mark.parametrize("pool", ["0", "1"])
def test_an_unreachable_database_is_503(pool: str) -> None:
    """With a pool Django waits for it in vain (5 s); without one the connection fails at once."""
    script = (
        "import django; django.setup()\n"
        "from rest_framework.test import APIClient\n"
        "body = {'email': 'alice@example.com', 'password': 'secret'}\n"
        "response = APIClient().post('/api/auth/login', body, format='json')\n"
        "print(response.status_code, list(response.json()))"
    )
    nowhere = {"DATABASE_URL": "postgres://postgres@127.0.0.1:1/nowhere", "DATABASE_POOL": pool}
    paths = os.pathsep.join(part for part in sys.path if part)
    done = subprocess.run(  # noqa: S603 - this interpreter, our own script
        [sys.executable, "-c", script],
        env={**os.environ, **nowhere, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout == "503 ['detail', 'code']\n", done.stderr


# --- Outside of DRF's views ---------------------------------------------------------------------


def failing(error: Exception) -> Any:
    def view(request: HttpRequest) -> HttpResponse:
        raise error

    return view


urlpatterns = [
    path(f"{place}/{name}", failing(error))
    for place in ("api", "elsewhere", "admin")
    for name, error in {
        "400": SuspiciousOperation(),
        "403": PermissionDenied(),
        "404": Http404(),
        "500": RuntimeError("secret"),
        "503": DiskFull("secret"),
    }.items()
]


@pytest.mark.parametrize("status", [400, 403, 404, 500, 503])
def test_errors_outside_of_views_are_json_but_in_the_admin(settings: Settings, status: int) -> None:
    urls = import_module(settings.ROOT_URLCONF)
    for handler in ("handler400", "handler403", "handler404", "handler500"):
        globals()[handler] = getattr(urls, handler)
    settings.ROOT_URLCONF = __name__
    client = APIClient(raise_request_exception=False)
    for place in ("api", "elsewhere"):
        response = client.get(f"/{place}/{status}")
        assert response.status_code == status
        assert response.json().keys() == {"detail", "code"}
        assert b"secret" not in response.content
    assert client.get(f"/admin/{status}")["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
@pytest.mark.parametrize(
    "where", ["/", "/nothing", "/api", "/api/", "/api/nothing", "/api/auth/login/", "/api/%00"]
)
def test_an_unknown_path_is_a_json_404(
    settings: Settings, debug: bool, method: str, where: str
) -> None:
    settings.DEBUG = debug
    response = APIClient(enforce_csrf_checks=True).generic(method, where)
    assert response.status_code == 404
    assert response["Content-Type"] == "application/json"


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("host", ["elsewhere.example", "a b", "", "localhost:x", "[::1"])
def test_an_unknown_host_is_a_json_400(settings: Settings, debug: bool, host: str) -> None:
    settings.DEBUG = debug
    response = APIClient().get("/api/auth/me", HTTP_HOST=host)
    assert response.status_code == 400
    assert response.json().keys() == {"detail", "code"}


def test_a_wrong_method_is_405_and_names_the_right_ones() -> None:
    response = APIClient().get("/api/auth/login")
    assert response.status_code == 405
    assert response.json().keys() == {"detail", "code"}
    assert "POST" in response["Allow"]


def test_no_csrf_token_is_asked_for() -> None:
    client = APIClient(enforce_csrf_checks=True)
    assert client.post("/api/auth/login", {}, format="json").status_code == 422


def test_html_is_not_offered() -> None:
    response = APIClient().post(
        "/api/auth/login", {}, format="json", headers={"Accept": "text/html"}
    )
    assert response.status_code == 406
    assert response.json().keys() == {"detail", "code"}
