"""What the logs say of calls: one line for each, and errors that an operator has to act on."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import (
    EMBEDDING,
    EMBEDDINGS,
    IMAGE,
    IMAGES,
    IN_PLAN,
    Customer,
    new_customer,
)
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.personas import authorization
from tests.service import Web, running_web

Line = dict[str, Any]

ANSWERED = "request.answered"


class Logs:
    """Every line that the service has written, as it comes."""

    def __init__(self, http: httpx.Client) -> None:
        self.written: list[str] = []
        self._http = http

    def of(self, request_id: str) -> list[Line]:
        """The lines about the calls of a request, the last of which says how one ended."""
        wait_for(lambda: "call.ended" in self._events(request_id))
        # What else is written about it stands before the line of a request that comes later.
        later = self._http.get("/v1/models").headers["x-request-id"]
        wait_for(lambda: self._about(later))
        return [line for line in self._about(request_id) if line["event"] != ANSWERED]

    def answered(self, request_id: str) -> Line:
        """The line of a request itself."""
        wait_for(lambda: ANSWERED in self._events(request_id))
        [line] = [line for line in self._about(request_id) if line["event"] == ANSWERED]
        return line

    def _events(self, request_id: str) -> list[str]:
        return [line["event"] for line in self._about(request_id)]

    def _about(self, request_id: str) -> list[Line]:
        lines = [json.loads(line) for line in list(self.written) if line.startswith("{")]
        return [line for line in lines if line.get("request_id") == request_id]


@pytest.fixture(scope="module")
def logged(
    django_db_setup: None, django_db_blocker: Any, simulator: RunningSimulator
) -> Iterator[tuple[Web, httpx.Client, Logs]]:
    """A service that logs JSON, a client of it, and what it logs."""
    with (
        django_db_blocker.unblock(),
        running_web(simulator, LOG_JSON="1") as web,
        wire.client(web.url) as http,
    ):
        logs = Logs(http)
        web.process.on_line = logs.written.append
        yield web, http, logs


@pytest.fixture
def logs(logged: tuple[Web, httpx.Client, Logs]) -> Logs:
    return logged[2]


@pytest.fixture
def alice(
    committed: None, logged: tuple[Web, httpx.Client, Logs], simulator: RunningSimulator
) -> Customer:
    web, http, _ = logged
    return new_customer(http, web, simulator)


def test_a_call_leaves_one_line(alice: Customer, logs: Logs) -> None:
    response = alice.chat(stream=True, steer={"tokens": 7})
    [line] = logs.of(response.headers["x-request-id"])
    charge = alice.charge()
    assert (
        line.items()
        >= {
            "event": "call.ended",
            "level": "info",
            "charge_id": str(charge.pk),
            "account_id": str(alice.user.pk),
            "api_key_id": str(alice.key.pk),
            "source": "api",
            "kind": "chat",
            "provider": "openai",
            "model": "gpt-6-luna",
            "status": "settled",
            "code": None,
            "attempts": 1,
            "tokens_in": charge.tokens_in,
            "tokens_out": 7,
            "cost_nusd": charge.cost,
            "billed_nusd": charge.charge_plan + charge.charge_balance,
        }.items()
    )
    assert 0 < line["first_output_seconds"] <= line["total_seconds"] < 20
    assert line["timestamp"].endswith("Z")
    request = logs.answered(response.headers["x-request-id"])
    assert request.pop("timestamp").endswith("Z")
    assert request.pop("milliseconds") > 0
    assert request == {
        "level": "info",
        "event": ANSWERED,
        "method": "POST",
        "route": "/v1/chat/completions",
        "status": 200,
        "code": None,
        "cause": None,
        "request_id": response.headers["x-request-id"],
        "account_id": str(alice.user.pk),
        "api_key_id": str(alice.key.pk),
    }


@pytest.mark.parametrize(
    ("path", "model", "content", "kind"),
    [(EMBEDDINGS, EMBEDDING, "input", "embeddings"), (IMAGES, IMAGE, "prompt", "images")],
)
def test_calls_of_other_kinds_and_what_is_replayed_leave_one_too(
    alice: Customer, logs: Logs, path: str, model: str, content: str, kind: str
) -> None:
    body = {"model": model, content: alice.prompt("A red boat.")}
    for status in ("settled", "replayed"):
        response = alice.post(path, json=body, headers={"Idempotency-Key": "one"})
        [line] = logs.of(response.headers["x-request-id"])
        assert (line["event"], line["kind"], line["status"]) == ("call.ended", kind, status)
        assert (line["model"], line["source"]) == (model, "api")


def test_a_reply_and_its_title_leave_one_each(alice: Customer, logs: Logs) -> None:
    headers = {**authorization(alice.user), "X-Request-Id": uuid4().hex}
    body = {"model": IN_PLAN, "content": alice.prompt(tokens=3), "stream": False}
    begun = alice.http.post("/api/conversations", json={}, headers=headers).json()["id"]
    path = f"/api/conversations/{begun}/messages"
    assert alice.http.post(path, json=body, headers=headers).status_code == 200

    wait_for(lambda: len(logs.of(headers["X-Request-Id"])) == 2)

    lines = logs.of(headers["X-Request-Id"])
    assert {line["event"] for line in lines} == {"call.ended"}
    assert {line["account_id"] for line in lines} == {str(alice.user.pk)}
    assert {line["source"] for line in lines} == {"web"}
    assert {line["charge_id"] for line in lines} == {str(each.pk) for each in alice.charges()}


def test_a_refused_hold_too(alice: Customer, logs: Logs) -> None:
    alice.change_key(monthly_spend_cap_usd=0)
    response = alice.chat()
    [line] = logs.of(response.headers["x-request-id"])
    assert (line["event"], line["status"]) == ("call.ended", "refused")
    assert (line["code"], line["billed_nusd"]) == ("spend_cap_reached", 0)


@pytest.mark.parametrize(
    ("path", "status", "code", "shown"),
    [
        ("/v1/models", 200, None, "/v1/models"),
        ("/v1/usage?key=x", 404, "key_not_found", "/v1/usage"),
        ("/v1/models/mk_secret", 404, "model_not_found", "/v1/models/{model}"),
        ("/v1/responses", 404, "not_found", "/v1/responses"),
        ("/v1/mk_secret", 404, "not_found", "unknown"),
    ],
)
def test_what_comes_to_no_call_leaves_another(
    alice: Customer,
    logs: Logs,
    path: str,
    status: int,
    code: str | None,
    shown: str,
) -> None:
    response = alice.get(path)
    line = logs.answered(response.headers["x-request-id"])
    assert (line["route"], line["status"], line["code"]) == (shown, status, code)
    assert "mk_secret" not in "".join(logs.written)


@pytest.mark.parametrize(
    ("steering", "event", "level", "code"),
    [
        ({"status": 401}, "provider.key_refused", "error", "invalid_api_key"),
        ({"status": 403}, "provider.key_refused", "error", "permission_denied"),
        ({"status": 402}, "provider.quota_exhausted", "error", "insufficient_balance"),
        (
            {"status": 429, "code": "insufficient_quota"},
            "provider.quota_exhausted",
            "error",
            "insufficient_quota",
        ),
        ({"status": 404}, "provider.model_gone", "error", "model_not_found"),
        ({"status": 400}, "provider.request_refused", "info", "invalid_value"),
    ],
    ids=["401", "403", "402", "quota", "404", "400"],
)
def test_what_an_operator_has_to_act_on_has_a_name_of_its_own(
    alice: Customer,
    logs: Logs,
    steering: dict[str, Any],
    event: str,
    level: str,
    code: str,
) -> None:
    response = alice.chat(steer=steering)
    failed, ended = logs.of(response.headers["x-request-id"])
    assert (failed["event"], failed["level"]) == (event, level)
    assert (failed["provider"], failed["model"]) == ("openai", "gpt-6-luna")
    assert failed["status"] == steering["status"]
    assert code in failed["code"].split()
    assert (ended["status"], ended["code"]) == ("released", response.json()["error"]["code"])


def test_a_fault_in_passing_is_a_warning_for_each_attempt(alice: Customer, logs: Logs) -> None:
    response = alice.chat(steer={"status": 503, "retry_after": 0})
    lines = logs.of(response.headers["x-request-id"])
    events = [(line["event"], line["level"]) for line in lines]
    again = ("provider.retried", "warning")
    assert events == [again, again, ("provider.failed", "warning"), ("call.ended", "info")]
    assert lines[-1]["attempts"] == 3


def test_a_stream_that_ends_with_an_error_has_its_code(alice: Customer, logs: Logs) -> None:
    response = alice.chat(stream=True, steer={"tokens": 9, "fail": "after", "after_tokens": 4})
    line = logs.answered(response.headers["x-request-id"])
    assert (line["status"], line["code"]) == (200, "upstream_error")


def test_neither_keys_nor_prompts_are_logged(alice: Customer, logs: Logs) -> None:
    for steering in ({"tokens": 2}, {"status": 400}, {"status": 500}, {"blocked": True}):
        logs.of(alice.chat(steer=steering).headers["x-request-id"])
    written = "\n".join(logs.written)
    assert "call.ended" in written
    assert alice.marker not in written
    assert alice.raw_key not in written
