"""What it costs to count one call: everything that `/v1/chat/completions` counts of a plain call,
and the whole call, measured in the same run. Both in seconds of CPU, which the load of other
programs changes little."""

import time
from dataclasses import dataclass
from statistics import median
from uuid import uuid4

import psutil
import uvloop
from prometheus_client import Histogram

from ai.catalog.selectors import get_catalog
from ai.inference.metrics import Steps, count_end, open_calls
from ai.inference.types import ChatCall
from ai.providers.types import Message
from bench import noise, servers
from bench.load import chat, press
from bench.servers import Server
from bench.throughput import CONNECTIONS
from billing.types import Ending, Resolution
from billing.units import Units
from common.batching import batch_sizes
from devserver.ports import free_port
from publicapi.v1.chat import PATH
from server.metrics import count_request
from simulator.process import RunningSimulator

MODEL = "gpt-6-luna"
COUNTED = 20_000
ROUNDS = 5
SECONDS = 4.0
# The round trips that a call shares with others.
BATCHES = ("keys", "limits", "holds", "endings")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds of CPU: of counting, and of the process that serves the whole call."""

    counting: float
    call: float

    @property
    def share(self) -> float:
        return self.counting / self.call


def measure(simulator: RunningSimulator, keys: list[str]) -> Outcome:
    """The medians of several rounds, in turn."""
    counting, calls = [], []
    with (
        servers.service(simulator, METRICS_PORT=str(free_port())) as service,
        noise.reported("the counting"),
    ):
        requests = chat(service.port, keys, stream=False)
        uvloop.run(press(requests, connections=CONNECTIONS, seconds=2.0))
        for _ in range(ROUNDS):
            counting.append(_seconds_of_counting())
            before = _cpu_seconds(service)
            pressed = uvloop.run(press(requests, connections=CONNECTIONS, seconds=SECONDS))
            calls.append((_cpu_seconds(service) - before) / len(pressed.latencies))
    return Outcome(median(counting), median(calls))


def _seconds_of_counting() -> float:
    """Of one call, in this process."""
    model = get_catalog().models[MODEL]
    call = ChatCall(
        account_id=uuid4(),
        api_key_id=uuid4(),
        source="api",
        model=model,
        request_id="bench",
        messages=(Message("user", "Tell me something."),),
    )
    units: Units = {"tokens_in": 12, "tokens_out": 60}
    ending = Ending(uuid4(), call.account_id, "settled", 1_000, units)
    resolution = Resolution(True, "settled", 1_000, 1_000, 0, 0)
    sizes = [batch_sizes.labels(name) for name in BATCHES]
    began_at = time.process_time()
    for _ in range(COUNTED):
        _count(call, ending, resolution, sizes)
    return (time.process_time() - began_at) / COUNTED


def _cpu_seconds(server: Server) -> float:
    times = psutil.Process(server.pid).cpu_times()
    return times.user + times.system


def _count(call: ChatCall, ending: Ending, resolution: Resolution, sizes: list[Histogram]) -> None:
    """As the places of counting do, one after the other."""
    arrived_at = time.monotonic()
    for size in sizes:
        size.observe(4)
    open_calls.inc()
    asked_at, answered_at = time.monotonic(), time.monotonic()
    count_end(
        call,
        status="settled",
        code=None,
        ending=ending,
        resolution=resolution,
        first_output_at=None,
        seconds=answered_at - arrived_at,
        steps=Steps(asked_at - arrived_at, answered_at - asked_at, answered_at - asked_at),
    )
    open_calls.dec()
    count_request("POST", PATH, 200, arrived_at)
