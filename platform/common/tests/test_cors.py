"""Which web apps may call `/api` from a browser, and what they may read."""

from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from django.test import override_settings
from rest_framework.test import APIClient

WEB_APP = "https://web.example.com"
STRANGER = "https://elsewhere.example.com"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _allowed() -> Iterator[None]:
    with override_settings(CORS_ALLOWED_ORIGINS=[WEB_APP]):
        yield


def preflight(path: str, origin: str, headers: str = "authorization") -> HttpResponse:
    response: HttpResponse = APIClient().options(
        path,
        headers={
            "origin": origin,
            "access-control-request-method": "PATCH",
            "access-control-request-headers": headers,
        },
    )
    return response


def test_a_web_app_that_is_listed_may_call() -> None:
    response = preflight("/api/auth/me", WEB_APP)
    assert response.status_code == 200
    assert response["access-control-allow-origin"] == WEB_APP
    assert "PATCH" in response["access-control-allow-methods"]
    assert int(response["access-control-max-age"]) >= 600


@pytest.mark.parametrize(
    "header", ["authorization", "content-type", "idempotency-key", "last-event-id", "x-request-id"]
)
def test_it_may_send_what_the_interface_reads(header: str) -> None:
    allowed = preflight("/api/auth/me", WEB_APP, header)["access-control-allow-headers"]
    assert header in allowed.split(", ")


@pytest.mark.parametrize(
    ("path", "status"), [("/api/auth/me", 401), ("/api/nothing", 404), ("/api/keys", 401)]
)
def test_it_may_read_refusals_and_the_headers_that_matter(path: str, status: int) -> None:
    response = APIClient().get(path, headers={"origin": WEB_APP})
    assert response.status_code == status
    assert response["access-control-allow-origin"] == WEB_APP
    exposed = set(response["access-control-expose-headers"].split(", "))
    assert exposed == {
        "content-disposition",
        "etag",
        "idempotency-replayed",
        "link",
        "retry-after",
        "x-next-seq",
        "x-request-id",
    }


def test_no_cookie_goes_along() -> None:
    response = APIClient().get("/api/auth/me", headers={"origin": WEB_APP})
    assert "access-control-allow-credentials" not in response


def test_a_cache_does_not_give_one_origin_s_answer_to_another() -> None:
    response = APIClient().get("/api/auth/me", headers={"origin": WEB_APP})
    assert "origin" in response["vary"].lower()


@pytest.mark.parametrize(
    "origin", [STRANGER, f"{WEB_APP}.evil.example", "null", "http://web.example.com"]
)
def test_anybody_else_may_not(origin: str) -> None:
    assert "access-control-allow-origin" not in preflight("/api/auth/me", origin)
    response = APIClient().get("/api/auth/me", headers={"origin": origin})
    assert "access-control-allow-origin" not in response


def test_the_admin_is_for_nobody_else() -> None:
    response = APIClient().get("/admin/login/", headers={"origin": WEB_APP})
    assert "access-control-allow-origin" not in response
