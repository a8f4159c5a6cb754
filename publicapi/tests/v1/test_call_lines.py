"""What the logs say of calls: one line for each, and errors that an operator has to act on."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import Customer, new_customer
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.service import running_web


@pytest.fixture(scope="module")
def logs() -> list[dict[str, Any]]:
    """Every line that the service has written, as it comes."""
    return []


@pytest.fixture(scope="module")
def logged(
    django_db_setup: None,
    django_db_blocker: Any,
    simulator: RunningSimulator,
    logs: list[dict[str, Any]],
) -> Iterator[Any]:
    """A service that logs JSON, and a client of it."""

    def read(line: str) -> None:
        if line.startswith("{"):
            logs.append(json.loads(line))

    with (
        django_db_blocker.unblock(),
        running_web(simulator, LOG_JSON="1") as web,
        wire.client(web.url) as http,
    ):
        web.process.on_line = read
        yield web, http


@pytest.fixture
def alice(committed: None, logged: Any, simulator: RunningSimulator) -> Customer:
    web, http = logged
    return new_customer(http, web, simulator)


def lines_of(logs: list[dict[str, Any]], request_id: str) -> list[dict[str, Any]]:
    """The lines about a request, the last of which says how it ended."""
    ends = ("call.ended", "v1.answered")

    def found() -> list[dict[str, Any]]:
        lines = [line for line in logs if line.get("request_id") == request_id]
        return lines if lines and lines[-1]["event"] in ends else []

    wait_for(found)
    time.sleep(0.05)  # a second one would follow at once
    return found()


def test_a_call_leaves_one_line(alice: Customer, logs: list[dict[str, Any]]) -> None:
    response = alice.chat(stream=True, steer={"tokens": 7})
    [line] = lines_of(logs, response.headers["x-request-id"])
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


def test_a_refused_hold_too(alice: Customer, logs: list[dict[str, Any]]) -> None:
    alice.change_key(monthly_spend_cap_usd=0)
    response = alice.chat()
    [line] = lines_of(logs, response.headers["x-request-id"])
    assert (line["event"], line["status"]) == ("call.ended", "refused")
    assert (line["code"], line["billed_nusd"]) == ("spend_cap_reached", 0)


@pytest.mark.parametrize(
    ("path", "status", "code", "shown"),
    [
        ("/v1/models", 200, None, "/v1/models"),
        ("/v1/usage?key=x", 404, "key_not_found", "/v1/usage"),
        ("/v1/mk_secret", 404, "not_found", "other"),
    ],
)
def test_what_comes_to_no_call_leaves_another(
    alice: Customer,
    logs: list[dict[str, Any]],
    path: str,
    status: int,
    code: str | None,
    shown: str,
) -> None:
    response = alice.get(path)
    [line] = lines_of(logs, response.headers["x-request-id"])
    assert line["event"] == "v1.answered"
    assert (line["path"], line["status"], line["code"]) == (shown, status, code)


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
    logs: list[dict[str, Any]],
    steering: dict[str, Any],
    event: str,
    level: str,
    code: str,
) -> None:
    response = alice.chat(steer=steering)
    failed, ended = lines_of(logs, response.headers["x-request-id"])
    assert (failed["event"], failed["level"]) == (event, level)
    assert (failed["provider"], failed["model"]) == ("openai", "gpt-6-luna")
    assert failed["status"] == steering["status"]
    assert code in failed["code"].split()
    assert (ended["status"], ended["code"]) == ("released", response.json()["error"]["code"])


def test_a_fault_in_passing_is_a_warning_for_each_attempt(
    alice: Customer, logs: list[dict[str, Any]]
) -> None:
    response = alice.chat(steer={"status": 503, "retry_after": 0})
    lines = lines_of(logs, response.headers["x-request-id"])
    told = [(line["event"], line["level"]) for line in lines]
    again = ("provider.retried", "warning")
    assert told == [again, again, ("provider.failed", "warning"), ("call.ended", "info")]
    assert lines[-1]["attempts"] == 3


def test_neither_keys_nor_prompts_are_logged(alice: Customer, logs: list[dict[str, Any]]) -> None:
    for steering in ({"tokens": 2}, {"status": 400}, {"status": 500}, {"blocked": True}):
        lines_of(logs, alice.chat(steer=steering).headers["x-request-id"])
    written = json.dumps(logs)
    assert alice.marker not in written
    assert alice.raw_key not in written
