"""The tasks of the benchmarks, on Runway's wire: polls are answered at once, without a journal.

The id of a task says all of it, so that a benchmark puts tasks in flight by naming them: the time
of its end in milliseconds, how it ends, and the size of its clip.
"""

import re
import time
from functools import cache
from typing import NamedTuple

import msgspec

from simulator import ranges
from simulator.connection import Connection, Receive, Scope, Send
from simulator.media.films import Film
from simulator.media.results import padded

COUNTS = "/runway/_counts"
_FILE = re.compile(r"/runway/_files/(.*)\.mp4")


class Counts(msgspec.Struct):
    """The number of polls, and for each task that has ended, when a poll first said so."""

    polls: int = 0
    told: dict[str, float] = msgspec.field(default_factory=dict)


_counts = Counts()


class BenchTask(NamedTuple):
    """A task that ends at a time, in seconds since 1970, with a clip of so many bytes, or, with 0,
    with a failure. `number` tells it from others."""

    ends_at: float
    size: int
    number: int

    @property
    def id(self) -> str:
        return f"{self.ends_at * 1000:.0f}-{self.size}-{self.number}"

    @classmethod
    def named(cls, task_id: str) -> "BenchTask":
        ends_at, size, number = (int(part) for part in task_id.split("-"))
        return cls(ends_at / 1000, size, number)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a poll, send a clip, or tell the counts."""
    connection = Connection(scope, receive, send)
    path: str = scope["path"]
    if path == COUNTS:
        await connection.send_json(200, _counts)
    elif found := _FILE.fullmatch(path):
        body = padded(_clip(), "mp4", BenchTask.named(found[1]).size)
        await ranges.send(connection, body, {"content-type": "video/mp4"})
    else:
        _counts.polls += 1
        task_id = path.rpartition("/")[2]
        await connection.send_body(200, msgspec.json.encode(_shown(connection, task_id)))


def _shown(connection: Connection, task_id: str) -> dict[str, object]:
    task, now = BenchTask.named(task_id), time.time()
    if now < task.ends_at:
        return {"id": task_id, "status": "RUNNING", "progress": 0.5}
    _counts.told.setdefault(task_id, now)
    if not task.size:
        return {"id": task_id, "status": "FAILED", "failure": "An unexpected error occurred."}
    url = f"{connection.origin}/runway/_files/{task_id}.mp4"
    return {"id": task_id, "status": "SUCCEEDED", "output": [url]}


@cache
def _clip() -> bytes:
    made = Film("A lighthouse at dusk.", 1, (320, 180), "bench").make_file("mp4")
    assert made is not None  # noqa: S101 - a film is an MP4
    return made
