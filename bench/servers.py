"""The processes under test: the simulator in bench mode, the yardstick, the service."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from common.local.paths import PYTHONPATH, ROOT
from common.local.ports import LOOPBACK, free_port
from simulator.process import RunningSimulator

_START_SECONDS = 60
_STOP_SECONDS = 40
_LITELLM = ROOT / "var/bench/litellm/bin/litellm"


class BenchError(Exception):
    """One sentence for the person at the terminal: why this benchmark cannot be run."""


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
    """One uvicorn process as in production, until the block ends."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", application, "--host", LOOPBACK]
    command += ["--port", str(port), "--loop", "uvloop", "--http", "httptools"]
    command += ["--no-access-log", "--no-proxy-headers"]
    command += ["--log-level", "warning", "--backlog", "4096"]
    whole = {**os.environ, "PYTHONPATH": PYTHONPATH, **environment}
    return _process(application, command, port, whole)


@contextmanager
def _process(
    name: str, command: list[str], port: int, environment: Mapping[str, str]
) -> Iterator[Server]:
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
            _wait_until_it_listens(name, process, port, output)
            yield Server(process.pid, port)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_it_listens(
    name: str, process: subprocess.Popen[bytes], port: int, output: IO[bytes]
) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, port)) == 0:
                return
        time.sleep(0.05)
    output.seek(0)
    words = output.read().decode(errors="replace").strip()
    raise BenchError(f"{name} did not start within {_START_SECONDS} s.\n{words}")


def yardstick(simulator: RunningSimulator) -> AbstractContextManager[Server]:
    """The bare pass-through to the simulator."""
    return uvicorn("bench.yardstick:application", {"UPSTREAM": simulator.base_url("openai")})


def litellm(simulator: RunningSimulator) -> AbstractContextManager[Server]:
    """LiteLLM's proxy before the simulator, one worker, in the environment that `make bench` makes.

    Raises BenchError where it is not installed.
    """
    if not _LITELLM.exists():
        raise BenchError("LiteLLM is not installed. `make bench` does it.")
    port = free_port()
    command = [str(_LITELLM), "--config", "bench/litellm.yaml", "--num_workers", "1"]
    command += ["--host", LOOPBACK, "--port", str(port), "--telemetry", "False"]
    # None of ours: it would take our stores for its own.
    environment = {
        "PATH": os.environ["PATH"],
        "LITELLM_LOG": "ERROR",
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        "UPSTREAM": simulator.base_url("openai"),
    }
    return _process("LiteLLM", command, port, environment)


def service(simulator: RunningSimulator) -> AbstractContextManager[Server]:
    """The service with the simulator for OpenAI; stores and secrets come from our environment."""
    upstream = {"OPENAI_API_KEY": "unused", "OPENAI_BASE_URL": simulator.base_url("openai")}
    return uvicorn("config.asgi:application", upstream)
