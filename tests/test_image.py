"""The image runs what `make run` runs, and compose gives it the time to end."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from common.shutdown import GRACE_SECONDS, SERVER_SECONDS
from config.serve import APPLICATION, command
from jobs.worker import LEAVE_SECONDS
from local.configuration import resolve
from local.errors import LocalError
from local.parts import parts, web_command, worker_command
from local.paths import ROOT
from local.ports import LOOPBACK


def test_a_web_container_serves_as_on_this_machine_but_to_all_addresses() -> None:
    container = re.search(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert container
    _, *here = web_command(8000)
    here[here.index(LOOPBACK)] = "0.0.0.0"  # noqa: S104 - it has a network of its own
    assert json.loads(container[1]) == ["python", *here]


def test_a_worker_container_works_as_on_this_machine_but_for_its_name() -> None:
    _, _, *here, option, name = worker_command("alice")
    assert (option, name) == ("--hostname", "alice")
    assert _services()["worker"]["command"] == [word for word in here if word != "--quiet"]


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
    services = _services(drain)
    for name in ("web", "worker", "beat"):
        assert _seconds(services[name]["stop_grace_period"]) == seconds
        assert services[name]["environment"]["DRAIN_SECONDS"] == (drain or "30")


def test_the_server_and_a_worker_end_before_they_are_killed() -> None:
    assert max(SERVER_SECONDS, LEAVE_SECONDS) < GRACE_SECONDS


@pytest.mark.parametrize("drain", ["-1", "1.5", "soon"])
def test_a_drain_of_no_such_time_is_refused_with_a_sentence(drain: str, tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="DRAIN_SECONDS must be a whole number"):
        resolve({"DRAIN_SECONDS": drain}, tmp_path)


def test_only_the_proxy_of_this_machine_reaches_a_container() -> None:
    published = {port for service in _services().values() for port in service.get("ports", ())}
    assert published
    assert {port.split(":")[0] for port in published} == {LOOPBACK}


def _services(drain: str = "") -> dict[str, dict[str, Any]]:
    """Of compose.yaml, its variables put in place as compose does."""
    text = (ROOT / "compose.yaml").read_text().replace("${DRAIN_SECONDS:-30}", drain or "30")
    services: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    return services


def _seconds(duration: object) -> int:
    """Of a duration as Go reads it: the sum of its parts."""
    assert isinstance(duration, str)
    assert re.fullmatch(r"(\d+s)+", duration)
    return sum(int(part) for part in re.findall(r"(\d+)s", duration))
