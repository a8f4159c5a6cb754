"""Clients hang up and providers fail: what was produced is billed, once, and nothing else."""

import httpx
import pytest

from accounts.models import User
from ai.catalog.pricing import token_cost
from ai.catalog.selectors import get_catalog
from ai.catalog.types import TokenPrice
from billing.models import Charge
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.hanging_up import sent
from tests.personas import new_key, new_user
from tests.service import Web

pytestmark = pytest.mark.usefixtures("committed")


def test_a_client_that_hangs_up_after_three_chunks_is_billed_the_full_output(
    web: Web, simulator: RunningSimulator
) -> None:
    alice, key, marker = _caller()

    calls.read_chunks(
        web.url, key, calls.body(marker, stream=True, tokens=40, delay_ms=20), count=3
    )

    charge = calls.wait_for(lambda: _resolved(alice))
    (call,) = simulator.calls(marker)
    assert call["tokens_emitted"] == 40
    assert charge.status == "settled"
    assert charge.tokens_out == 40
    assert charge.cost == _cost(call["prompt_tokens"], 40)
    assert charge.charge_balance == 2 * charge.cost


def test_a_client_that_hangs_up_on_a_plain_call_is_billed_the_full_output(
    web: Web, simulator: RunningSimulator
) -> None:
    alice, key, marker = _caller()
    request = calls.body(marker, tokens=30, ttft_ms=500)

    with sent(
        httpx.Request(
            "POST",
            f"{web.url}/v1/chat/completions",
            json=request,
            headers={"Authorization": f"Bearer {key}"},
        )
    ):
        calls.wait_for(lambda: simulator.calls(marker))

    charge = calls.wait_for(lambda: _resolved(alice))
    assert (charge.status, charge.tokens_out) == ("settled", 30)


@pytest.mark.parametrize("stream", [False, True])
def test_a_provider_that_fails_before_output_costs_nothing(
    web: Web, simulator: RunningSimulator, stream: bool
) -> None:
    alice, key, marker = _caller()

    answer = calls.post(web.url, key, calls.body(marker, stream=stream, fail="before"))

    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_error"
    charge = calls.only_charge(alice)
    assert (charge.status, charge.cost, charge.charge_balance) == ("released", 0, 0)
    # What may be passing is tried again.
    assert len(simulator.calls(marker)) == 3


def test_a_provider_that_fails_after_output_is_settled_for_what_came(
    web: Web, simulator: RunningSimulator
) -> None:
    alice, key, marker = _caller()

    request = calls.body(marker, stream=True, fail="after", after_tokens=5, text="one " * 40)
    answer = calls.post(web.url, key, request)

    assert answer.status_code == 200
    assert '"code":"upstream_error"' in answer.text
    assert answer.text.endswith("data: [DONE]\n\n")
    charge = calls.only_charge(alice)
    assert (charge.status, charge.tokens_out) == ("settled", 5)
    assert calls.emitted(simulator, marker) == 5


def _caller() -> tuple[User, str, str]:
    alice = new_user("alice", plan="max", balance_usd=5)
    return alice, new_key(alice)[1], uuid7().hex


def _resolved(account: User) -> Charge | None:
    return Charge.objects.filter(account=account).exclude(status="held").first()


def _cost(tokens_in: int, tokens_out: int) -> int:
    price = get_catalog().models[calls.MODEL].price
    assert isinstance(price, TokenPrice)
    return token_cost(price, tokens_in, tokens_out)
