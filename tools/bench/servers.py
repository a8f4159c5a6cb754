"""The processes under test: the service, its worker, and the yardsticks."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from celery import Celery

from bench.feed import Feed
from devserver.parts import web_command, worker_command
from devserver.paths import PYTHONPATH, ROOT
from devserver.ports import LOOPBACK, free_port
from simulator.process import RunningSimulator

_START_SECONDS = 60
_STOP_SECONDS = 40
_QUIET = ["--log-level", "warning", "--backlog", "4096"]
_LITELLM = ROOT / "var/bench/litellm/bin/litellm"


class BenchError(Exception):
    """One sentence for the person at the terminal: why this benchmark cannot run."""


@dataclass(frozen=True, slots=True)
class Server:
    pid: int
    port: int

    def memory(self) -> int:
        """Bytes of proportional set size: shared pages are counted once over all processes."""
        rollup = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        (line,) = [line for line in rollup.splitlines() if line.startswith("Pss:")]
        return int(line.split()[1]) * 1024


def uvicorn(application: str, environment: Mapping[str, str]) -> AbstractContextManager[Server]:
    """One uvicorn process with the service's flags, until the block ends."""
    port = free_port()
    command = [*web_command(port), "--application", application]
    return _listening(application, command + _QUIET, port, _with_ours(environment))


def _with_ours(environment: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": PYTHONPATH, **environment}


@contextmanager
def _listening(
    name: str, command: list[str], port: int, environment: Mapping[str, str]
) -> Iterator[Server]:
    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((LOOPBACK, port)) == 0

    with _process(name, command, environment, listens) as pid:
        yield Server(pid, port)


@contextmanager
def _process(
    name: str, command: list[str], environment: Mapping[str, str], is_ready: Callable[[], bool]
) -> Iterator[int]:
    """The process id, once the server is ready."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_until_ready(name, process, is_ready, output)
            yield process.pid
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_ready(
    name: str,
    process: subprocess.Popen[bytes],
    is_ready: Callable[[], bool],
    output: IO[bytes],
) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if is_ready():
            return
        time.sleep(0.05)
    output.seek(0)
    words = output.read().decode(errors="replace").strip()
    raise BenchError(f"{name} did not start within {_START_SECONDS} s.\n{words}")


def yardstick(simulator: RunningSimulator) -> AbstractContextManager[Server]:
    """The bare pass-through to the simulator."""
    return uvicorn("bench.yardstick:application", {"UPSTREAM": simulator.base_url("openai")})


def reply_yardstick(
    simulator: RunningSimulator, recorded: Path | None = None
) -> AbstractContextManager[Server]:
    """The barest views of Django; with a file of records, the views that run the same
    statements."""
    environment = {"UPSTREAM": simulator.base_url("openai")}
    if recorded is not None:
        environment["RECORDED"] = str(recorded)
    return uvicorn("bench.reply_yardstick:application", environment)


def socket_yardstick(feed: Feed) -> AbstractContextManager[Server]:
    """The bare Channels consumer."""
    return uvicorn("bench.socket_yardstick:application", feed.environment())


def socket_floor(feed: Feed) -> AbstractContextManager[Server]:
    """The server that writes prepared frames."""
    port = free_port()
    command = [sys.executable, "-m", "bench.socket_floor", str(port)]
    return _listening("bench.socket_floor", command, port, _with_ours(feed.environment()))


def litellm(simulator: RunningSimulator) -> AbstractContextManager[Server]:
    """LiteLLM's proxy in front of the simulator, with one worker, in the environment of `make
    bench`.

    Raises BenchError where LiteLLM is not installed.
    """
    if not _LITELLM.exists():
        raise BenchError("LiteLLM is not installed. `make bench` does it.")
    port = free_port()
    command = [str(_LITELLM), "--config", "tools/bench/litellm.yaml", "--num_workers", "1"]
    command += ["--host", LOOPBACK, "--port", str(port), "--telemetry", "False"]
    # Without our variables: the proxy would use our stores.
    environment = {
        "PATH": os.environ["PATH"],
        "LITELLM_LOG": "ERROR",
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        "UPSTREAM": simulator.base_url("openai"),
    }
    return _listening("LiteLLM", command, port, environment)


def service(simulator: RunningSimulator, **settings: str) -> AbstractContextManager[Server]:
    """The service, with the simulator as OpenAI and Runway; stores and secrets come from the
    environment, to which `settings` are added."""
    port = free_port()
    command = [*web_command(port), *_QUIET]
    environment = _with_ours({**_upstream(simulator), **settings})
    return _listening("The service", command, port, environment)


def worker(simulator: RunningSimulator, **settings: str) -> AbstractContextManager[int]:
    """A worker of that service, as in production. Returns its process id."""
    name = f"worker@bench-{uuid4().hex}"
    control = Celery(broker=os.environ["REDIS_URL"]).control

    def answers() -> bool:
        return bool(control.ping(destination=[name], timeout=0.5, limit=1))

    environment = _with_ours({**_upstream(simulator), "DATABASE_POOL": "0", **settings})
    return _process("The worker", [*worker_command(name)], environment, answers)


def _upstream(simulator: RunningSimulator) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "unused",
        "OPENAI_BASE_URL": simulator.base_url("openai"),
        "RUNWAY_API_KEY": "unused",
        "RUNWAY_BASE_URL": simulator.base_url("runway"),
    }
