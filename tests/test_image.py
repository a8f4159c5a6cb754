"""The image runs what `make run` runs, and compose gives it the time to end."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from common.shutdown import GRACE_SECONDS, SERVER_SECONDS, notice_seconds
from devserver.configuration import resolve
from devserver.errors import LocalError
from devserver.parts import parts, web_command
from devserver.paths import ROOT
from devserver.ports import LOOPBACK
from server.serve import APPLICATION, command
from tests.compose import PROCESSES, services
from tests.compose import seconds as in_seconds
from tests.environment import inherited
from work.jobs.worker import LEAVE_SECONDS


def test_a_web_container_serves_as_on_this_machine_but_to_all_addresses() -> None:
    container = re.search(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert container
    _, *here = web_command(8000)
    here[here.index(LOOPBACK)] = "0.0.0.0"  # noqa: S104 - it has a network of its own
    assert json.loads(container[1]) == ["python", *here]


def test_a_web_process_is_served_as_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAIN_SECONDS", "90")
    arguments = command(["--port", "8001"])
    assert arguments[0] == APPLICATION
    assert arguments[-2:] == ["--port", "8001"]
    graceful = arguments.index("--timeout-graceful-shutdown") + 1
    assert int(arguments[graceful]) == 90 + SERVER_SECONDS


@pytest.mark.parametrize("drain", ["", "90"])
def test_whoever_kills_waits_longer_than_the_drain(
    drain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("DRAIN_SECONDS", drain)
    local = parts(resolve(os.environ, tmp_path))
    seconds = int(drain or 30) + GRACE_SECONDS
    assert {local["web"]().grace, local["worker"]().grace} == {seconds}
    for name in PROCESSES:
        service = services({"DRAIN_SECONDS": drain})[name]
        assert in_seconds(service["stop_grace_period"]) == seconds
        assert service["environment"]["DRAIN_SECONDS"] == (drain or "30")


def test_the_server_and_a_worker_end_before_they_are_killed() -> None:
    assert max(SERVER_SECONDS, LEAVE_SECONDS) < GRACE_SECONDS


@pytest.mark.parametrize("drain", ["-1", "1.5", "soon"])
def test_a_drain_of_no_such_time_is_refused_with_a_sentence(drain: str, tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="DRAIN_SECONDS must be a whole number"):
        resolve({"DRAIN_SECONDS": drain}, tmp_path)


@pytest.mark.parametrize("notice", ["30", "31"])
def test_a_notice_that_leaves_no_time_is_refused_with_a_sentence(notice: str) -> None:
    with pytest.raises(ValueError, match=r"NOTICE_SECONDS .* must be less than DRAIN_SECONDS"):
        notice_seconds({"NOTICE_SECONDS": notice})


@pytest.mark.parametrize("module", ["server.serve", "celery"])
def test_a_process_does_not_start_with_a_drain_of_no_such_time(module: str) -> None:
    """The other values follow from that one, so there is nothing else to refuse."""
    arguments = {"server.serve": ["--port", "0"], "celery": ["-A", "config", "report"]}
    ended = subprocess.run(
        [sys.executable, "-m", module, *arguments[module]],
        env={
            **inherited(),
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            "DRAIN_SECONDS": "soon",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    assert "DRAIN_SECONDS must be a whole number of seconds, not 'soon'." in ended.stderr
