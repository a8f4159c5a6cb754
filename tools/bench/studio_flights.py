"""Clips in flight: what a worker takes for their polls, when it tells their ends, and how it copies
a large one."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from urllib.request import urlopen
from uuid import UUID

import msgspec
import psutil
import uvloop

from bench import noise, servers
from bench.servers import BenchError
from bench.studio_jobs import ended, order_clips, postpone, put_in_flight
from common.http import UpstreamClient
from simulator import process
from simulator.bench_videos import COUNTS, BenchTask, Counts
from simulator.process import RunningSimulator

RATE = 400
# More than 2,000: a poll follows the last one after 5 s and up to a fifth more, which is drawn.
IN_FLIGHT = 2_400
CLIPS, FAILURES = 40, 160
LARGE = 200_000_000  # bytes
_SMALL = 300_000  # bytes
_SETTLE_SECONDS, _STEADY_SECONDS, _END_SECONDS = 8.0, 15.0, 20.0
_WARM_UP_CLIPS = 4
_LATE_SECONDS = 60.0
_LOOK_SECONDS = 0.02
_FOR_EVER = 3600.0
_BARE_SECONDS = 5.0
# So that the worker is measured, and not its bound of polls.
_UNBOUND = {"MAX_POLLS_PER_SECOND": "100000"}


@dataclass(frozen=True, slots=True)
class Polls:
    """Polls per second, the worker's CPU seconds per second and its bytes of memory; and the CPU
    seconds of a bare GET of the same URL."""

    rate: float
    cores: float
    memory: int
    bare_cpu: float


@dataclass(frozen=True, slots=True)
class Ends:
    """Seconds from the poll that saw an end until it was committed, for each status."""

    seconds: Mapping[str, list[float]]
    missing: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Seconds from the poll to the end of a large clip, the worker's additional bytes of memory,
    and the seconds of a bare copy."""

    seconds: float
    memory: int
    bare_seconds: float


def measure() -> tuple[Polls, Ends, Copy]:
    """Measure the three."""
    jobs = order_clips(IN_FLIGHT)
    with process.running("--bench") as simulator:
        with servers.worker(simulator, **_UNBOUND) as worker:
            polls, ends = _fly(simulator, psutil.Process(worker), jobs)
        postpone(jobs)
        extra = order_clips(_WARM_UP_CLIPS + 1)
        with servers.worker(simulator) as worker, noise.reported("the copy of a large clip"):
            return polls, ends, _copy(simulator, psutil.Process(worker), extra)


def _fly(
    simulator: RunningSimulator, worker: psutil.Process, jobs: Sequence[UUID]
) -> tuple[Polls, Ends]:
    """Polls in a steady flight, and ends that come evenly in the middle of it."""
    first_end = time.time() + _SETTLE_SECONDS + _STEADY_SECONDS + _BARE_SECONDS
    flight = dict(zip(jobs, _tasks(first_end, len(jobs)), strict=True))
    put_in_flight(flight)
    time.sleep(_SETTLE_SECONDS)
    with noise.reported("the polls"):
        rate, cores = _steady(simulator, worker)
        memory = worker.memory_info().rss
    bare_cpu = uvloop.run(_bare_gets(simulator, [*flight.values()][-1]))
    finite = {job: task for job, task in flight.items() if task.ends_at < first_end + _FOR_EVER / 2}
    with noise.reported("the ends"):
        ends = _ends(simulator, finite)
    return Polls(rate, cores, memory, bare_cpu), ends


def _tasks(first_end: float, count: int) -> list[BenchTask]:
    """Clips and failures that end one after the other, and many that do not end."""
    finite, every = CLIPS + FAILURES, FAILURES // CLIPS + 1
    ends = [first_end + _END_SECONDS * number / finite for number in range(finite)]
    return [
        *(BenchTask(at, _SMALL * (n % every == 0), n) for n, at in enumerate(ends)),
        *(BenchTask(first_end + _FOR_EVER, 0, n) for n in range(finite, count)),
    ]


def _steady(simulator: RunningSimulator, worker: psutil.Process) -> tuple[float, float]:
    """Polls per second, and the worker's CPU seconds per second."""
    started, polls, used = time.perf_counter(), _counts(simulator).polls, _cpu(worker)
    time.sleep(_STEADY_SECONDS)
    seconds = time.perf_counter() - started
    return (_counts(simulator).polls - polls) / seconds, (_cpu(worker) - used) / seconds


def _cpu(worker: psutil.Process) -> float:
    times = worker.cpu_times()
    return float(times.user + times.system)


def _counts(simulator: RunningSimulator) -> Counts:
    with urlopen(simulator.url + COUNTS) as answer:  # noqa: S310 - our own http address
        return msgspec.json.decode(answer.read(), type=Counts)


async def _bare_gets(simulator: RunningSimulator, task: BenchTask) -> float:
    """CPU seconds of a GET at that rate, by the client that the service has."""
    client, url = UpstreamClient(), f"{simulator.base_url('runway')}/tasks/{task.id}"

    async def get() -> None:
        response = await client.get(url, {"Authorization": "Bearer x"}, connect_timeout=5)
        await response.read(1_000_000)
        response.close()

    used, gets = time.process_time(), []
    for _ in range(round(RATE * _BARE_SECONDS)):
        gets.append(asyncio.create_task(get()))
        await asyncio.sleep(1 / RATE)
    await asyncio.gather(*gets)
    await client.aclose()
    return (time.process_time() - used) / len(gets)


def _ends(simulator: RunningSimulator, finite: Mapping[UUID, BenchTask]) -> Ends:
    """Watch until all of them have ended."""
    seen: dict[UUID, tuple[float, str]] = {}
    deadline = max(task.ends_at for task in finite.values()) + _LATE_SECONDS
    while len(seen) < len(finite) and time.time() < deadline:
        for job, status in ended([job for job in finite if job not in seen]).items():
            seen[job] = time.time(), status
        time.sleep(_LOOK_SECONDS)
    told = _counts(simulator).told
    seconds: dict[str, list[float]] = {"completed": [], "failed": []}
    for job, (at, status) in seen.items():
        seconds[status].append(at - told[finite[job].id])
    return Ends(seconds, len(finite) - len(seen))


def _copy(simulator: RunningSimulator, worker: psutil.Process, jobs: Sequence[UUID]) -> Copy:
    """Copy a large clip, after some small ones that fill the worker's caches."""
    *small, large = jobs
    _end(simulator, {job: BenchTask(time.time(), _SMALL, n) for n, job in enumerate(small)})
    task = BenchTask(time.time(), LARGE, len(jobs))
    before = worker.memory_info().rss
    _forget_peak(worker)
    [seconds] = _end(simulator, {large: task}).seconds["completed"]
    more = _peak(worker) - before
    return Copy(seconds, more, _timed(lambda: _bare_copy(simulator, task)))


def _forget_peak(worker: psutil.Process) -> None:
    """Let the peak of its memory begin anew (proc(5), clear_refs)."""
    Path(f"/proc/{worker.pid}/clear_refs").write_text("5")


def _peak(worker: psutil.Process) -> int:
    """The most bytes that were resident at any time since."""
    status = Path(f"/proc/{worker.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def _end(simulator: RunningSimulator, tasks: Mapping[UUID, BenchTask]) -> Ends:
    put_in_flight(tasks)
    ends = _ends(simulator, tasks)
    if len(ends.seconds["completed"]) < len(tasks):
        raise BenchError("A clip was not completed.")
    return ends


def _bare_copy(simulator: RunningSimulator, task: BenchTask) -> None:
    """The clip, written into a file by the client that the service has."""

    async def copy() -> None:
        client, url = UpstreamClient(), f"{simulator.url}/runway/_files/{task.id}.mp4"
        response = await client.get(url, {}, connect_timeout=5)
        with TemporaryFile() as file:
            while piece := await response.read_chunk(LARGE):
                file.write(piece)
        await client.aclose()

    uvloop.run(copy())


def _timed(action: Callable[[], None]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
