"""With LOG_JSON=1 all that a process writes is JSON, from its first line to its last."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.service import running_web
from tests.worker import running_beat, running_worker

Line = dict[str, Any]
# By default mails are printed, and other tests may have left some to be sent.
ENVIRONMENT: dict[str, Any] = {"LOG_JSON": "1", "EMAIL_URL": "memorymail://"}


@pytest.fixture(scope="module")
def logs(
    django_db_setup: None,
    django_db_blocker: Any,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """What a web process, a worker and beat have written until they ended."""
    folder = tmp_path_factory.mktemp("logs")
    with django_db_blocker.unblock(), ExitStack() as stack:
        beat = folder / "beat.log"
        stack.enter_context(running_beat(simulator, folder, log=str(beat), **ENVIRONMENT))
        stack.enter_context(
            running_worker(simulator, log=str(folder / "worker.log"), **ENVIRONMENT)
        )
        stack.enter_context(running_web(simulator, log=str(folder / "web.log"), **ENVIRONMENT))
        wait_for(lambda: "beat.started" in beat.read_text())
    return folder


@pytest.mark.parametrize(
    ("process", "event"),
    [
        ("worker", "worker.draining"),
        ("beat", "beat.started"),
        ("web", "Finished server process"),
    ],
)
def test_every_line_of_a_process_is_json(logs: Path, process: str, event: str) -> None:
    written = (logs / f"{process}.log").read_text().splitlines()
    assert [line for line in written if not line.startswith("{")] == []
    lines: list[Line] = [json.loads(line) for line in written]
    assert any(event in line["event"] for line in lines)
    assert all({"event", "level", "timestamp"} <= line.keys() for line in lines)
