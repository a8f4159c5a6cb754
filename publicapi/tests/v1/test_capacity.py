"""A process with as many calls as it can carry."""

import pytest

from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import new_customer
from publicapi.tests.v1.refusals import refusal
from simulator.process import RunningSimulator
from tests.service import running_web


@pytest.mark.usefixtures("committed")
def test_over_capacity_a_call_is_refused_before_it_costs_anything(
    simulator: RunningSimulator,
) -> None:
    with (
        running_web(simulator, MAX_OPEN_CALLS="1") as web,
        wire.client(web.url) as http,
    ):
        alice = new_customer(http, web, simulator)
        bob = new_customer(http, web, simulator, name="bob")
        running = alice.body(stream=True, steer={"tokens": 3, "delay_ms": 200})
        with http.stream(
            "POST", "/v1/chat/completions", json=running, headers=alice.headers
        ) as stream:
            lines = stream.iter_lines()
            next(lines)
            response = bob.chat()
            list(lines)

        error = refusal(response, 503, "service_unavailable")
        assert "Nothing was billed" in error["message"]
        assert "x-should-retry" not in response.headers
        assert (bob.charges(), bob.provider_calls()) == ([], [])
        assert bob.chat().status_code == 200
