"""The embedded stores: after a crash, beside each other, and without an owner."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis as redis_client

from common.ids import uuid7
from devserver import postgres, redis
from devserver.configuration import keep_private, var_folder
from devserver.errors import LocalError
from devserver.paths import PYTHONPATH, ROOT
from devserver.ports import free_port, is_free
from devserver.processes import Process, command_of
from tests.service import database_url

SECONDS = 20
OWNER = """
import os, subprocess, sys
from devserver.throwaway import MARK, stores
with stores() as started:
    user = subprocess.Popen(
        ["sleep", "600"], env={MARK: started.folder, "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL, start_new_session=True,
    )
    print(user.pid, started.database_url, started.redis_url, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A temporary folder that the user PostgreSQL runs as may pass through."""
    for path in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        path.chmod(path.stat().st_mode | 0o011)
    return tmp_path


@pytest.fixture
def running() -> Iterator[list[Process]]:
    """Processes that are stopped after the test, whatever happens."""
    processes: list[Process] = []
    yield processes
    for process in processes:
        process.stop()


def start_postgres(data: Path, port: int, running: list[Process]) -> Process:
    postgres.initialise(data)
    running.append(Process(postgres.service(data, port, durable=False)))
    running[-1].wait_until_ready(timeout=SECONDS)
    return running[-1]


def test_postgres_survives_a_kill(folder: Path, running: list[Process]) -> None:
    data, port = folder / "postgres", free_port()
    first = start_postgres(data, port, running)
    postgres.create_database(port, "kept")
    os.kill(first.pid, signal.SIGKILL)
    first.wait_stopped()
    start_postgres(data, port, running)
    psycopg.connect(postgres.url(port, "kept")).close()


def test_a_cluster_of_before_is_protected_and_keeps_its_data(
    folder: Path, running: list[Process]
) -> None:
    """It trusted every user of the machine; a lost password is replaced."""
    data, port = folder / "postgres", free_port()
    start_postgres(data, port, running)
    postgres.create_database(port, "kept")
    running.pop().stop()
    for password in ("a1", "a1", "b2"):
        postgres.protect(data, password)
        process = Process(postgres.service(data, port, durable=False, password=password))
        running.append(process)
        process.wait_until_ready(timeout=SECONDS)
        psycopg.connect(postgres.url(port, "kept", password)).close()
        for wrong in ("", "c3"):
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(postgres.url(port, "kept", wrong))
        running.pop().stop()


def test_redis_asks_for_its_password(folder: Path, running: list[Process]) -> None:
    port = free_port()
    running.append(Process(redis.service(folder / "redis", port, password="a1")))
    running[-1].wait_until_ready(timeout=SECONDS)
    with (
        redis_client.Redis(port=port) as client,
        pytest.raises(redis_client.AuthenticationError),
    ):
        client.ping()
    assert (folder / "redis/redis.conf").stat().st_mode & 0o777 == 0o600


def test_what_an_earlier_run_left_readable_is_closed(folder: Path) -> None:
    var = folder / "var"
    (var / "log").mkdir(parents=True)
    (var / "ports.json").touch(mode=0o644)
    before = os.umask(0)
    try:
        keep_private(var)
        (var / "run").mkdir()
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in var.iterdir()}
    assert modes == {"log": 0o700, "ports.json": 0o600, "run": 0o700}
    assert var.stat().st_mode & 0o066 == 0


def test_postgres_starts_although_its_old_pid_is_now_another_process(
    folder: Path, running: list[Process]
) -> None:
    data, port = folder / "postgres", free_port()
    other = start_postgres(folder / "other", free_port(), running)
    postgres.initialise(data)
    (data / "postmaster.pid").write_text(f"{other.pid}\n{data}\n")
    start_postgres(data, port, running)
    assert other.exit_code is None


def test_a_postmaster_that_nobody_recorded_is_ended(folder: Path, running: list[Process]) -> None:
    data, port = folder / "postgres", free_port()
    left = start_postgres(data, port, running)
    start_postgres(data, port, running)
    assert left.exit_code == 0


def test_another_server_on_the_port_is_not_taken_for_ours(
    folder: Path, running: list[Process]
) -> None:
    port = free_port()
    start_postgres(folder / "one", port, running)
    with pytest.raises(LocalError, match="could not bind"):
        start_postgres(folder / "two", port, running)


@pytest.mark.parametrize("named", ["project/../var", "link", "link/../var"])
def test_postgres_is_recognised_however_its_folder_was_named(
    folder: Path, running: list[Process], named: str
) -> None:
    for name in ("project", "var"):
        (folder / name).mkdir()
    (folder / "link").symlink_to(folder / "var", target_is_directory=True)
    var = var_folder({"VAR_DIR": str(folder / named)})
    assert var == folder / "var"
    start_postgres(var / "postgres", free_port(), running)


def test_redis_keeps_its_data_over_a_kill(folder: Path, running: list[Process]) -> None:
    port = free_port()
    for expected in (None, b"kept"):
        process = Process(redis.service(folder / "redis", port))
        running.append(process)
        process.wait_until_ready(timeout=SECONDS)
        with redis_client.Redis(port=port) as client:
            assert client.get("key") == expected
            client.set("key", "kept")  # written to the file before it is acknowledged
        os.kill(process.pid, signal.SIGKILL)
        process.wait_stopped()


def test_throwaway_stores_and_what_uses_them_end_with_their_killed_owner() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": PYTHONPATH},
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner:
        assert owner.stdout
        user, *urls = owner.stdout.readline().split()
        ports = [int(url.rpartition(":")[2].partition("/")[0]) for url in urls]
        assert not any(is_free(port) for port in ports)
        deadline = time.monotonic() + SECONDS
        # A process that has only just begun has no command line for a moment.
        while not command_of(int(user)):
            assert time.monotonic() < deadline, "what uses the stores is not there"
            time.sleep(0.05)
        owner.kill()
    deadline = time.monotonic() + SECONDS
    while command_of(int(user)) or not all(is_free(port) for port in ports):
        assert time.monotonic() < deadline, "the stores are still there"
        time.sleep(0.05)


@pytest.mark.usefixtures("committed")
def test_a_database_that_may_not_be_changed_is_a_sentence_and_no_traceback() -> None:
    """One of the user's own: it answers, but its user may not create tables."""
    name = f"reader_{uuid7().hex}"
    with psycopg.connect(database_url(), autocommit=True) as database:
        database.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
        database.execute(f"CREATE DATABASE {name}")
        where = urlsplit(database_url())
        url = f"postgres://{name}:x@{where.hostname}:{where.port}/{name}"
        done = subprocess.run(
            [sys.executable, "-m", "devserver.prepare"],
            env={
                **os.environ,
                "PYTHONPATH": PYTHONPATH,
                "DJANGO_SETTINGS_MODULE": "config.settings.dev",
                "DATABASE_URL": url,
                "DATABASE_POOL": "0",
            },
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        database.execute(f"DROP DATABASE {name}")
        database.execute(f"DROP ROLE {name}")
    assert done.returncode == 1
    assert (
        done.stderr.strip()
        .splitlines()[-1]
        .startswith("The database cannot be prepared: permission denied for schema public.")
    )
    assert "Traceback" not in done.stderr
