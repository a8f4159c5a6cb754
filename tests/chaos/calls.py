"""Calls of `/v1` for tests of what goes wrong, each marked in the simulator's journal."""

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

import httpx

from billing.models import Charge
from simulator.process import RunningSimulator

# Every call is paid from the balance, at twice the cost.
MODEL = "kimi-k3"
PROVIDER_SECONDS = 30


def body(
    marker: str, *, stream: bool = False, max_tokens: int = 50, **options: Any
) -> dict[str, Any]:
    """A request; `options` steer the simulator."""
    steering = json.dumps({"marker": marker, **options})
    return {
        "model": MODEL,
        "stream": stream,
        "max_tokens": max_tokens,
        "messages": [{"role": "user", "content": f"Hello.\n@sim {steering}"}],
    }


def post(url: str, key: str, request: dict[str, Any], named: str = "") -> httpx.Response:
    return httpx.post(
        f"{url}/v1/chat/completions",
        json=request,
        headers={"Authorization": f"Bearer {key}"} | ({"Idempotency-Key": named} if named else {}),
        timeout=PROVIDER_SECONDS,
    )


def read_chunks(url: str, key: str, request: dict[str, Any], count: int) -> None:
    """Read so many chunks with text of a stream, then hang up."""
    with httpx.stream(
        "POST",
        f"{url}/v1/chat/completions",
        json=request,
        headers={"Authorization": f"Bearer {key}"},
        timeout=PROVIDER_SECONDS,
    ) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            count -= '"content":" ' in line
            if count <= 0:
                return


def emitted(simulator: RunningSimulator, marker: str) -> int:
    """The tokens that the simulator wrote for the one call with that marker."""
    (call,) = simulator.calls(marker)
    tokens: int = call["tokens_emitted"]
    return tokens


def most_billed(simulator: RunningSimulator, marker: str) -> int:
    """The most tokens that may be billed for a part of the one call with that marker, which nobody
    has counted: of the simulator's prose, an estimated token has three bytes at least."""
    (call,) = simulator.calls(marker)
    tokens, length = int(call["tokens_emitted"]), int(call["bytes_emitted"])
    return max(tokens, length // 3)


T = TypeVar("T")


def wait_for(what: Callable[[], T | None], *, seconds: float = 10.0, pause: float = 0.05) -> T:
    """The first true answer, asked again after each pause."""
    deadline = time.monotonic() + seconds
    while not (answer := what()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(pause)
    return answer


def only_charge(account: Any) -> Charge:
    return Charge.objects.get(account=account)
