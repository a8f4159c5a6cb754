"""A web process and a worker whose circuits open after a few calls, on a Redis of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.process import RunningSimulator
from tests.own_redis import OwnRedis
from tests.service import Web, running_web
from tests.worker import running_worker

# Probes follow each other after a second, and take a second at most.
SHORT_CIRCUITS = {
    "CIRCUIT_FAILURES": "3",
    "CIRCUIT_FAULTS": "1",
    "CIRCUIT_SILENT_SECONDS": "1",
    "CIRCUIT_OPEN_SECONDS": "5",
    "PROBE_SECONDS": "1",
    "PROBE_PAUSE_SECONDS": "1",
    "CALLER_FAILURES": "5",
    "CALLER_PAUSE_SECONDS": "2",
}


@contextmanager
def running_with_short_circuits(
    simulator: RunningSimulator, folder: Path, **environment: str
) -> Iterator[Web]:
    """Both until the block ends. Nobody is refused alone, unless the environment says when."""
    redis = OwnRedis(folder)
    settings = {**SHORT_CIRCUITS, "CALLER_FAILURES": "1000000", **environment}
    try:
        with (
            running_web(simulator, REDIS_URL=redis.url, **settings) as web,
            running_worker(simulator, takes_messages=True, REDIS_URL=redis.url, **settings),
        ):
            yield web
    finally:
        redis.stop()
