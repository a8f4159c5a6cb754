"""Throw-away stores: PostgreSQL and Redis in a temporary folder, for tests and benchmarks.

A keeper process owns them while its stdin stays open. However its owner ends, kill -9 included, the
system closes that pipe; the keeper then kills the processes that still use the stores (those with
`MARK` in their environment), stops the stores and removes the folder.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from devserver import postgres, redis
from devserver.errors import LocalError
from devserver.paths import PYTHONPATH
from devserver.ports import free_port
from devserver.processes import Process
from devserver.service import Service

DATABASE = "platform"
# Set to the stores' folder in the environment of processes that must not outlive them.
MARK = "THROWAWAY_STORES"
_DURABLE = "--durable"


@dataclass(frozen=True)
class Stores:
    """The addresses of the stores, and their folder."""

    database_url: str
    redis_url: str
    folder: str


@contextmanager
def stores(*, durable: bool = False) -> Iterator[Stores]:
    """Fresh stores until the block ends; `durable` ones flush every commit as real ones do.

    Raises LocalError when they cannot be started.
    """
    keeper = subprocess.Popen(  # noqa: S603 - this very module
        [sys.executable, "-m", "devserver.throwaway", *([_DURABLE] if durable else [])],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C is for the owner: the keeper lasts until the owner is done.
        start_new_session=True,
    )
    with keeper:
        assert keeper.stdin and keeper.stdout  # noqa: S101, PT018 - asked for above
        answer = json.loads(keeper.stdout.readline() or '{"error": "The stores did not start."}')
        if "error" in answer:
            raise LocalError(answer["error"])
        yield Stores(**answer)


def main() -> None:
    """The keeper: print the addresses of the stores, as one line of JSON, and wait for end of
    file."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stores-")))
        folder.chmod(0o711)  # PostgreSQL may run as another user, who needs access to it
        try:
            answer = asdict(_start(folder, stack, durable=_DURABLE in sys.argv[1:]))
        except LocalError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)  # noqa: T201 - the answer to our owner
        sys.stdin.read()
        _kill_what_is_marked(str(folder))


def _start(folder: Path, stack: ExitStack, *, durable: bool) -> Stores:
    data, database_port = folder / "postgres", free_port()
    redis_port = free_port(but={database_port})
    postgres.initialise(data)
    _run(redis.service(folder / "redis", redis_port, durable=durable), stack)
    _run(postgres.service(data, database_port, durable=durable), stack)
    postgres.create_database(database_port, DATABASE)
    return Stores(postgres.url(database_port, DATABASE), redis.url(redis_port), str(folder))


def _run(service: Service, stack: ExitStack) -> None:
    process = Process(service)
    stack.callback(process.stop)
    process.wait_until_ready(timeout=30)


def _kill_what_is_marked(folder: str) -> None:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK) == folder:
                process.kill()


if __name__ == "__main__":
    main()
