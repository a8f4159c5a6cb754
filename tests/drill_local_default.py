"""`make run`: the whole service on one machine, and the sentences that end it early."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import redis

from demo.tests.repository_run import check_repository_run
from devserver.paths import ROOT
from devserver.ports import LOOPBACK, free_port
from devserver.processes import command_of
from tests.audio import speech
from tests.local_default import COMMAND, Service, environment, reachable

# The line of a mail of the demo.
MAIL = r"^worker    \| Mail to \S+: .+: http://127\.0\.0\.1:\d+/\S+$"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(reachable(tmp_path))
    yield service
    service.stop()


def models(port: int) -> list[str]:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=10)
    connection.request("GET", "/v1/models")
    listed = json.loads(connection.getresponse().read())["data"]
    connection.close()
    return [model["id"] for model in listed]


@contextmanager
def demo_account(service: Service) -> Iterator[httpx.Client]:
    """Signed in as the demo account."""
    demo = json.loads((service.var / "demo.json").read_text())
    who = {"email": demo["email"], "password": demo["password"]}
    with httpx.Client(base_url=f"http://{LOOPBACK}:{service.port}", timeout=60) as http:
        access = http.post("/api/auth/login", json=who).json()["access_token"]
        http.headers["Authorization"] = f"Bearer {access}"
        yield http


def transcript(service: Service) -> str:
    """What the demo account is told that somebody says, by the model that is taken by itself."""
    with demo_account(service) as http:
        return http.post("/api/transcribe", files={"file": speech()}).text


def read_project(service: Service, path: str) -> Any:
    with demo_account(service) as http:
        return http.get(f"/api/project/sessions{path}").json()


def readable_by_others(folder: Path) -> list[str]:
    """What of a folder others may read, and what is below it. Files of stores that run come and
    go meanwhile."""
    found = []
    for parent, folders, files in os.walk(folder):
        for path in (os.path.join(parent, name) for name in (*folders, *files)):
            with suppress(FileNotFoundError):
                mode = os.lstat(path).st_mode
                if mode & 0o077 and not stat.S_ISLNK(mode):
                    found.append(path)
    return found


def test_nobody_else_on_the_machine_reads_what_it_keeps_or_uses_its_stores(
    service: Service,
) -> None:
    ports = json.loads((service.var / "ports.json").read_text())
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgres://postgres@{LOOPBACK}:{ports['postgres']}/platform")
    with (
        redis.Redis(host=LOOPBACK, port=ports["redis"]) as client,
        pytest.raises(redis.AuthenticationError),
    ):
        client.ping()
    assert service.var.stat().st_mode & 0o066 == 0
    assert readable_by_others(service.var) == []
    secrets = json.loads((service.var / "secrets.json").read_text())
    commands = [" ".join(command_of(pid)) for pid in service.processes().values()]
    assert not [each for each in commands if any(secret in each for secret in secrets.values())]


def test_the_whole_service_starts_again_after_a_kill_of_everything(service: Service) -> None:
    assert "smollm2-135m" in models(service.port)
    demo = service.var / "demo.json"
    assert demo.stat().st_mode & 0o777 == 0o600
    assert json.loads(demo.read_text())["api_key"] in service.output
    check_repository_run(partial(read_project, service))

    # A mail that is being sent at the kill is sent again a minute later: too late for this one.
    service.read_until(MAIL)

    pids = service.processes()
    assert set(pids) == {
        *("postgres", "redis", "model", "speech", "simulator", "worker", "beat", "web")
    }
    for pid in (service.popen.pid, *pids.values()):
        os.kill(pid, signal.SIGKILL)
    service.popen.communicate()
    first, service.output = service.output, ""
    service.start()
    assert "smollm2-135m" in models(service.port)
    assert "might even have been made" in transcript(service)

    pids = service.processes()
    assert service.stop() == 0
    assert not any(command_of(pid) for pid in pids.values())
    assert_short(first + service.output)
    steps = [line.partition("| ")[2] for line in service.output.splitlines() if "stopp" in line]
    assert steps == [
        "stopping beat, web, worker",
        "stopping model, speech, simulator",
        "stopping redis",
        "stopping postgres",
        "stopped",
    ]


def assert_short(output: str) -> None:
    """A line for each step and for each mail; the lines of the logs stay there."""
    for part in ("postgres", "redis", "model", "speech", "simulator", "worker", "beat", "web"):
        assert len(re.findall(rf"^local     \| ready: {part} \(\d+\.\d s\)$", output, re.M)) == 2
    assert len(re.findall(r"^prepare   \| Migrations: ", output, re.M)) == 2
    assert re.search(MAIL, output, re.M)
    for noise in ("Applying", "MIME-Version", "<html", "[info", "Discarding"):
        assert noise not in output
    assert "\x1b" not in output


def refusal(folder: Path, **changes: str) -> str:
    """The one sentence `make run` ends with, before anything is started."""
    done = subprocess.run(
        COMMAND,
        env=environment(**{"VAR_DIR": str(folder / "var"), **changes}),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert not (folder / "var" / "postgres").exists()
    return done.stderr


def test_a_busy_port_is_named(tmp_path: Path) -> None:
    port = free_port()
    with socket.create_server((LOOPBACK, port)):
        said = refusal(tmp_path, PORT=str(port))
    assert f"Port {port} is in use" in said
    assert f"PORT={port + 1} make run" in said


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", "80 80"])
def test_a_port_that_is_none_is_refused(tmp_path: Path, port: str) -> None:
    assert "PORT must be a number from 1 to 65535" in refusal(tmp_path, PORT=port)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refusal(tmp_path, VAR_DIR=str(tmp_path / "file" / "var"))
    assert f"Nothing can be written to {tmp_path / 'file' / 'var'}" in said


@pytest.mark.parametrize(
    ("variable", "url", "said"),
    [
        ("DATABASE_URL", "postgres://me:secret@127.0.0.1:{port}/shop", "shop on 127.0.0.1"),
        ("DATABASE_URL", "mysql://127.0.0.1/shop", "not of the form postgres://"),
        ("REDIS_URL", "redis://127.0.0.1:{port}/0", "does not answer"),
        ("REDIS_URL", "127.0.0.1:6379", "not of the form redis://"),
    ],
)
def test_a_store_that_does_not_answer_is_named(
    tmp_path: Path, variable: str, url: str, said: str
) -> None:
    store = {variable: url.format(port=free_port())}
    # Another test may have taken the port meanwhile.
    while "is in use" in (sentence := refusal(tmp_path, **store, PORT=str(free_port()))):
        pass
    assert variable in sentence
    assert said in sentence
    assert "secret" not in sentence


def test_a_missing_python_is_named(tmp_path: Path) -> None:
    """`make` on a machine whose only Python is too old."""
    for name in ("Makefile", "requirements-dev.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "bin").mkdir()
    old = tmp_path / "bin" / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    done = subprocess.run(
        [make, "run"],
        env={"PATH": str(tmp_path / "bin")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "Python 3.11 or later is needed and was not found." in done.stdout
