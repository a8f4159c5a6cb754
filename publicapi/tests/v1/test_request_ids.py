"""The name of a request: its caller's own, if it is well formed, on its answer and its charge."""

import re

import httpx
import pytest

from publicapi.tests.v1.customer import Customer

OURS = re.compile(r"req_[0-9a-f]{32}")


@pytest.mark.parametrize("sent", ["a", "trace_7-B", "x" * 64])
def test_a_well_formed_id_is_kept(alice: Customer, sent: str) -> None:
    response = alice.post(json=alice.body(), headers={"x-request-id": sent})
    assert response.headers["x-request-id"] == sent
    assert alice.charge().request_id == sent


@pytest.mark.parametrize(
    "sent", ["", "x" * 65, "a b", "a.b", "é", "a\tb", "mk_" + "a1B2" * 11, "sk-" + "a1B2" * 11]
)
def test_any_other_is_replaced(alice: Customer, sent: str) -> None:
    """One that looks like a key, too: it would be logged and stored."""
    headers = [*alice.headers.items(), ("x-request-id", sent)]
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    response = alice.http.post("/v1/chat/completions", json=alice.body(), headers=encoded)
    assert OURS.fullmatch(response.headers["x-request-id"])
    assert alice.charge().request_id == response.headers["x-request-id"]


def test_refusals_are_named_by_it_too(http: httpx.Client) -> None:
    response = http.post("/v1/chat/completions", headers={"x-request-id": "mine"})
    assert (response.status_code, response.headers["x-request-id"]) == (401, "mine")
