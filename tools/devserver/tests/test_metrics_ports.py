"""The ports of the metrics under `make run`: each part has its own."""

import socket
from pathlib import Path

import pytest

from devserver import configuration
from devserver.errors import LocalError
from devserver.parts import parts
from devserver.ports import LOOPBACK, free_port


def port_of(part: str, tmp_path: Path, **environ: str) -> str | None:
    """What the part's process is told."""
    resolved = configuration.resolve(environ, tmp_path)
    return parts(resolved)[part]().env.get("METRICS_PORT")


def test_each_part_has_its_own(tmp_path: Path) -> None:
    given = {part: port_of(part, tmp_path, METRICS_PORT="9100") for part in configuration.METRICS}
    assert given == {"web": "9100", "worker": "9101", "beat": "9102"}
    assert port_of("simulator", tmp_path, METRICS_PORT="9100") is None


def test_without_the_setting_there_are_none(tmp_path: Path) -> None:
    assert [port_of(part, tmp_path) for part in configuration.METRICS] == [None] * 3


@pytest.mark.parametrize("port", ["many", "-1", "0", "65534"])
def test_what_are_no_three_ports_is_refused(tmp_path: Path, port: str) -> None:
    with pytest.raises(LocalError, match="METRICS_PORT must be a number from 1 to 65535"):
        configuration.resolve({"METRICS_PORT": port}, tmp_path)


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        first = taken.getsockname()[1] - 1
        environ = {"METRICS_PORT": str(first), "PORT": str(free_port())}
        resolved = configuration.resolve(environ, tmp_path)
        with pytest.raises(LocalError, match=rf"Port {first}|Port {first + 1} is in use"):
            configuration.check(resolved)
