"""One simulator for all tests here, on a real socket; each test marks its own calls."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import httpx
import pytest

from simulator import process
from simulator.process import RunningSimulator


class Caller:
    """Calls one running simulator with steered prompts, each marked with this test's own marker."""

    def __init__(self, simulator: RunningSimulator, opened: ExitStack) -> None:
        self.simulator = simulator
        self.marker = uuid4().hex
        self.http = opened.enter_context(
            httpx.Client(timeout=10, headers={"authorization": "Bearer alice"})
        )
        self.opened = opened

    def prompt(self, **options: object) -> str:
        return f"Name a city.\n@sim {json.dumps({'marker': self.marker} | options)}"

    def body(self, stream: bool = False, **options: object) -> dict[str, Any]:
        messages = [{"role": "user", "content": self.prompt(**options)}]
        return {"model": "gpt-6-luna", "messages": messages, "stream": stream}

    def post(self, body: dict[str, Any], provider: str = "openai") -> httpx.Response:
        return self.http.post(self.simulator.base_url(provider) + "/chat/completions", json=body)

    def entry(self) -> dict[str, Any]:
        """The one journalled call of this test."""
        (call,) = self.simulator.calls(self.marker)
        return call

    def entry_when(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The one journalled call of this test, once that is so."""
        deadline = time.monotonic() + 5
        while not any(map(holds, self.simulator.calls(self.marker))):
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.01)
        return self.entry()


def events(body: str) -> list[dict[str, Any]]:
    """The JSON events of a stream that ends as it should."""
    *lines, end = [line for line in body.splitlines() if line]
    assert end == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines]


@pytest.fixture(scope="session")
def simulator() -> Iterator[RunningSimulator]:
    with process.running() as running:
        yield running


@pytest.fixture
def caller(simulator: RunningSimulator) -> Iterator[Caller]:
    with ExitStack() as opened:
        yield Caller(simulator, opened)
