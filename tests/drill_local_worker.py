"""The worker of `make run` is looked at while it is started again, and so may be its Redis."""

from dataclasses import replace
from pathlib import Path

import pytest

from devserver import configuration
from devserver.parts import parts
from devserver.processes import Process
from simulator.process import RunningSimulator
from tests.own_redis import OwnRedis
from tests.service import environment_of_a_process

pytestmark = pytest.mark.usefixtures("committed")


def test_a_worker_whose_redis_has_died_is_not_ready(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    redis = OwnRedis(tmp_path / "redis")
    (tmp_path / "var").mkdir()
    local = configuration.resolve({"REDIS_URL": redis.url}, tmp_path / "var")
    service = parts(local)["worker"]()
    env = {**environment_of_a_process(simulator), "DATABASE_POOL": "0", "REDIS_URL": redis.url}
    worker = Process(replace(service, env=env))
    try:
        worker.wait_until_ready(timeout=30)
        with redis.dead():
            assert not service.is_ready()
    finally:
        worker.stop()
        redis.stop()
