"""The id of a request."""

import re

import pytest
import structlog
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory
from rest_framework.test import APIClient

from common.middleware import request_id_middleware

FRESH = re.compile(r"req_[0-9a-f]{32}")


def test_every_response_carries_a_fresh_one() -> None:
    ids = [APIClient().get("/api/nothing")["x-request-id"] for _ in range(2)]
    assert all(FRESH.fullmatch(request_id) for request_id in ids)
    assert ids[0] != ids[1]


def test_a_refused_host_has_one_too() -> None:
    assert FRESH.fullmatch(APIClient().get("/api", HTTP_HOST="x.example")["x-request-id"])


@pytest.mark.parametrize("sent", ["a", "req_1", "A-b_9" * 12, "x" * 64])
def test_the_callers_own_is_kept(sent: str) -> None:
    assert APIClient().get("/api", headers={"X-Request-ID": sent})["x-request-id"] == sent


@pytest.mark.parametrize("sent", ["", "x" * 65, "a b", "a\tb", "é", "<b>", "a,b", "a\n"])
def test_one_that_could_do_harm_is_replaced(sent: str) -> None:
    response = APIClient().get("/api", headers={"X-Request-ID": sent})
    assert FRESH.fullmatch(response["x-request-id"])


def test_it_is_on_the_request_and_on_log_lines() -> None:
    seen: list[object] = []

    def view(request: HttpRequest) -> HttpResponseBase:
        seen.append(request.request_id)  # type: ignore[attr-defined]
        seen.append(structlog.contextvars.get_contextvars()["request_id"])
        return HttpResponse()

    response = request_id_middleware(view)(RequestFactory().get("/"))
    assert seen == [response["x-request-id"]] * 2
    assert "request_id" not in structlog.contextvars.get_contextvars()
