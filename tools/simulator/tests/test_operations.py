"""Long-running operations: submitted, looked up by the caller's reference, polled, cancelled, and
their results fetched."""

from typing import Any

import httpx
import pytest

from simulator.tests import png
from simulator.tests.conftest import Caller

KEY = {"authorization": "Bearer alice"}


def url_of(caller: Caller, path: str = "") -> str:
    return f"{caller.simulator.base_url('renderer')}/operations{path}"


def submit(caller: Caller, *, seconds: int = 5, **options: object) -> httpx.Response:
    body = {
        "prompt": caller.prompt(**options),
        "seconds": seconds,
        "reference": f"reference-{caller.marker}",
    }
    return httpx.post(url_of(caller), json=body, headers=KEY)


def poll(caller: Caller, operation_id: str) -> httpx.Response:
    return httpx.get(url_of(caller, f"/{operation_id}"), headers=KEY)


def cancel(caller: Caller, operation_id: str) -> dict[str, Any]:
    shown: dict[str, Any] = httpx.post(
        url_of(caller, f"/{operation_id}/cancel"), json={}, headers=KEY
    ).json()
    return shown


def find(caller: Caller, reference: str = "") -> list[dict[str, Any]]:
    query = {"reference": reference or f"reference-{caller.marker}"}
    answer = httpx.get(url_of(caller), params=query, headers=KEY)
    found: list[dict[str, Any]] = answer.json()["operations"]
    return found


def test_an_operation_succeeds_after_some_polls(caller: Caller) -> None:
    begun = submit(caller, seconds=7, polls=2).json()
    assert begun["status"] == "running"

    statuses = [poll(caller, begun["id"]).json()["status"] for _ in range(2)]
    ended = poll(caller, begun["id"]).json()

    assert statuses == ["running", "succeeded"]
    assert ended["cost_usd"] == pytest.approx(0.07)
    assert png.size(httpx.get(ended["url"], headers=KEY).content) == (64, 64)


def test_an_operation_is_found_by_its_reference_and_by_no_other(caller: Caller) -> None:
    begun = submit(caller).json()

    assert [operation["id"] for operation in find(caller)] == [begun["id"]]
    assert find(caller, "another") == []


def test_an_operation_whose_answer_was_lost_has_begun(caller: Caller) -> None:
    with pytest.raises(httpx.TransportError):
        submit(caller, drop=True, at=["submit"])

    assert len(find(caller)) == 1


def test_a_cancelled_operation_has_no_result(caller: Caller) -> None:
    begun = submit(caller, polls=100).json()

    cancelled = cancel(caller, begun["id"])

    assert cancelled["status"] == "cancelled"
    assert "url" not in poll(caller, begun["id"]).json()


def test_an_operation_that_has_succeeded_cannot_be_cancelled(caller: Caller) -> None:
    begun = submit(caller, polls=0).json()

    assert cancel(caller, begun["id"])["status"] == "succeeded"


def test_an_operation_can_be_steered_to_ignore_its_cancellation(caller: Caller) -> None:
    begun = submit(caller, polls=2, finish="uncancellable").json()

    assert cancel(caller, begun["id"])["status"] == "running"


@pytest.mark.parametrize(
    ("blocked", "code"), [(False, "render_error"), (True, "moderation_blocked")]
)
def test_an_operation_can_fail(caller: Caller, blocked: bool, code: str) -> None:
    begun = submit(caller, polls=0, finish="failed", blocked=blocked).json()

    ended = poll(caller, begun["id"]).json()

    assert (ended["status"], ended["error"]["code"]) == ("failed", code)
    assert "cost_usd" not in ended


def test_a_fault_is_of_the_named_request_and_so_often(caller: Caller) -> None:
    begun = submit(caller, polls=1, status=500, at=["poll"], times=1)

    assert begun.status_code == 200
    assert [poll(caller, begun.json()["id"]).status_code for _ in range(2)] == [500, 200]


def test_an_operation_can_be_missing_from_the_first_search(caller: Caller) -> None:
    submit(caller, missing=True, at=["find"], times=1)

    assert [len(find(caller)) for _ in range(2)] == [0, 1]


def test_an_operation_that_nobody_began_is_a_404(caller: Caller) -> None:
    assert poll(caller, "nobody-began-it").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        b"no JSON",
        b'{"prompt": "", "seconds": 5, "reference": "r"}',
        b'{"prompt": "p", "seconds": 0, "reference": "r"}',
        b'{"prompt": "p", "seconds": 5, "reference": "r", "more": 1}',
    ],
)
def test_an_invalid_body_is_refused(caller: Caller, body: bytes) -> None:
    assert httpx.post(url_of(caller), content=body, headers=KEY).status_code == 422
