"""A web process and a worker whose circuits open after a few calls, on a Redis of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.process import RunningSimulator
from tests.own_redis import OwnRedis
from tests.service import Web, running_web
from tests.worker import running_worker

OPEN_SECONDS = "5"


@contextmanager
def running_with_short_circuits(
    simulator: RunningSimulator, folder: Path, *, min_calls: int
) -> Iterator[Web]:
    """Both until the block ends. A circuit opens after `min_calls` failed calls."""
    redis = OwnRedis(folder)
    circuits = {"CIRCUIT_MIN_CALLS": str(min_calls), "CIRCUIT_OPEN_SECONDS": OPEN_SECONDS}
    with (
        running_web(simulator, REDIS_URL=redis.url, **circuits) as web,
        running_worker(
            simulator,
            REDIS_URL=redis.url,
            CIRCUIT_MIN_CALLS=circuits["CIRCUIT_MIN_CALLS"],
            CIRCUIT_OPEN_SECONDS=circuits["CIRCUIT_OPEN_SECONDS"],
        ),
    ):
        yield web
    redis.stop()
