"""Project runs through the whole service, web process and worker: how much longer a run takes than
the provider needs for its critical path, and what a large run costs to decide and to show.

The time of a call is that in the simulator's journal, from its arrival to its last word.
"""

import heapq
import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import msgspec
from django.db import transaction

from accounts.models import User
from bench import noise, seed, servers
from bench.abuse import highest
from bench.report import Target, milliseconds
from bench.seed import Account
from bench.servers import Server
from bench.session_client import SessionClient, SessionEvent, access_tokens
from common.ids import uuid7
from events.inbox import open_inbox
from events.services import append, open_stream
from events.types import NewEvent
from projects.decisions import RunState, Slot, SubtaskState, decide
from projects.models import Attempt, Run, Step, Subtask
from projects.types import STREAM, AttemptReason, RunStatus, StepKind, SubtaskStatus
from simulator import process
from simulator.process import RunningSimulator

RUNS_AT_ONCE = 50
# Beside which the memory of more runs is measured.
FEW_RUNS = 16
PARTS, TOKENS, DELAY_MS = 8, 800, 10
PARALLEL = 4
# A large run: subtasks, attempts, events of its log.
LARGE = (12, 40, 20_000)
_MODEL = "gpt-6-luna"
_ENDS = ("run.completed", "run.failed", "run.paused")
_SHOWN, _DECISIONS = 60, 200
_KINDS = ("plan", "work", "review", "final")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds from the request to the end of the run, and of its critical path at the provider;
    `faults` describe errors in the events."""

    seconds: float
    critical_path: float
    events: int
    faults: list[str]


def run() -> list[Target]:
    """Measure and print."""
    return [*_lives(), *_large_run()]


# --- Whole runs -----------------------------------------------------------------------------------


def _lives() -> list[Target]:
    accounts = seed.open_accounts(RUNS_AT_ONCE)
    with (
        process.running() as simulator,
        servers.service(simulator) as server,
        servers.worker(simulator) as worker,
        noise.reported("the project runs"),
    ):

        def memory() -> int:
            return Server(worker, 0).memory() + server.memory()

        idle = memory()
        # From here on both processes have the threads, with their connections, that so many runs at
        # once need; these are kept, and belong to no run.
        _ask_at_once(server, accounts)
        _measure(server, simulator, accounts[:FEW_RUNS], parts=2)
        [alone] = _measure(server, simulator, accounts[:1])
        with highest(memory) as peak_of_few:
            _measure(server, simulator, accounts[:FEW_RUNS])
        with highest(memory) as peak_of_many:
            together = _measure(server, simulator, accounts)
    ratio, slowest = (
        alone.seconds / alone.critical_path,
        max(each.seconds / each.critical_path for each in together),
    )
    # What further runs take, with the garbage that they make: what the first ones have left in the
    # heap of a process is used again, so that its growth under the same load says too little, and
    # that of a new process too much.
    each_kb = (peak_of_many() - peak_of_few()) / (RUNS_AT_ONCE - FEW_RUNS) / 1024
    print(
        f"A run of {PARTS} subtasks of {TOKENS} tokens, {PARALLEL} at a time: {alone.seconds:.2f} "
        f"s, its critical path at the provider {alone.critical_path:.2f} s; {RUNS_AT_ONCE} at "
        f"once: {sum(each.events for each in together):,} events in "
        f"{max(each.seconds for each in together):.2f} s, {each_kb:.0f} KB for each beyond "
        f"{FEW_RUNS}; new processes grow by {(peak_of_many() - idle) / 1024**2:.0f} MB\n",
        flush=True,
    )
    faults = Counter(fault for outcome in (alone, *together) for fault in outcome.faults)
    seen = ", ".join(f"{count} x {what}" for what, count in faults.items()) or "nothing"
    return [
        Target("a run, of its critical path", f"{ratio:.2f}x", "<= 1.05x", ratio <= 1.05),
        Target(f"{RUNS_AT_ONCE} runs, the slowest", f"{slowest:.2f}x", "<= 1.30x", slowest <= 1.3),
        Target("memory of each further run", f"{each_kb:.0f} KB", "<= 150 KB", each_kb <= 150),
        Target("lost of them", seen, "nothing", not faults),
    ]


def _ask_at_once(server: Server, accounts: Sequence[Account]) -> None:
    """One request of each account."""

    def ask(token: str) -> None:
        SessionClient("/api/project", server.port, token).ask("GET", "")

    with ThreadPoolExecutor(len(accounts)) as pool:
        list(pool.map(ask, access_tokens(accounts)))


def _measure(
    server: Server,
    simulator: RunningSimulator,
    accounts: Sequence[Account],
    *,
    parts: int = PARTS,
) -> list[Outcome]:
    """One run for each account, all at once."""

    def follow(token: str) -> Outcome:
        return _follow(SessionClient("/api/project", server.port, token), simulator, parts)

    with ThreadPoolExecutor(len(accounts)) as pool:
        return list(pool.map(follow, access_tokens(accounts)))


def _follow(client: SessionClient, simulator: RunningSimulator, parts: int) -> Outcome:
    marker = uuid4().hex
    body = {
        "prompt": _goal(marker, parts),
        "models": [_MODEL],
        "planner_model": _MODEL,
        "max_parallel": PARALLEL,
    }
    started = time.perf_counter()
    session = client.ask("POST", "", body)
    frames = client.listen(session["id"], _ENDS)
    seconds = time.perf_counter() - started
    calls = {kind: simulator.calls(f"{marker}-{kind}") for kind in _KINDS}
    return Outcome(seconds, _critical_path(calls), len(frames), _faults(client, session, frames))


def _goal(marker: str, parts: int) -> str:
    plan = {
        "subtasks": [
            {"key": f"s{n}", "title": f"Part {n}", "instructions": "Write."} for n in range(parts)
        ]
    }
    # Words of no block: of the usual answer of an author most would be in one, where no reader sees
    # them.
    speed = {"text": "The sea is deep and wide.", "delay_ms": DELAY_MS, "tokens": TOKENS}
    options: dict[str, dict[str, Any]] = {
        "plan": {"text": json.dumps(plan)},
        "work": speed,
        "review": {"text": '{"verdict": "accept"}'},
        "final": speed,
    }
    lines = [
        json.dumps({"step": kind, "marker": f"{marker}-{kind}", **options[kind]}) for kind in _KINDS
    ]
    return "\n@sim ".join(["Write about the sea.", *lines])


def _critical_path(calls: dict[str, list[dict[str, Any]]]) -> float:
    """Seconds that the provider needs with as many lanes as subtasks run at a time."""
    lanes = [0.0] * PARALLEL
    reviews = [_seconds(call) for call in calls["review"]]
    for work, review in zip(calls["work"], reviews, strict=True):
        heapq.heappush(lanes, heapq.heappop(lanes) + _seconds(work) + review)
    alone = sum(_seconds(call) for kind in ("plan", "final") for call in calls[kind])
    return max(lanes) + alone


def _seconds(call: dict[str, Any]) -> float:
    return float(call["ended_at"] - call["started_at"])


def _faults(client: SessionClient, session: dict[str, Any], frames: list[bytes]) -> list[str]:
    """Differences between socket and replay, and what is wrong with the end."""
    faults = []
    events = [msgspec.json.decode(frame, type=SessionEvent) for frame in frames]
    if frames != client.replay(session["id"])[: len(frames)]:
        faults.append("the socket differs from the replay")
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        faults.append("the events have gaps")
    shown = client.ask("GET", f"/{session['id']}")
    if shown["status"] != "completed" or shown["failed_subtasks"]:
        faults.append(f"a run is {shown['status']} ({shown['pause_reason']})")
    lengths: defaultdict[str, int] = defaultdict(int)
    for event in events:
        if event.type == "subtask.delta":
            lengths[event.data["subtask_id"]] += len(event.data["text"].split())
    if set(lengths.values()) != {TOKENS}:
        faults.append("the events are not the text")
    return faults


# --- A large run ----------------------------------------------------------------------------------


def _large_run() -> list[Target]:
    [account] = seed.open_accounts(1)
    user = User.objects.get(pk=account.account_id)
    run_id = _seed_run(user)
    with (
        process.running("--bench") as simulator,
        servers.service(simulator) as server,
        noise.reported("a large run"),
    ):
        [token] = access_tokens([account])
        client = SessionClient("/api/project", server.port, token)
        shown = _times(lambda: client.ask("GET", f"/{run_id}"), _SHOWN)
    decided = _times(lambda: decide(_large_state()), _DECISIONS)
    subtasks, attempts, events = LARGE
    print(
        f"A run of {subtasks} subtasks, {attempts} attempts and {events:,} events: its snapshot "
        f"{milliseconds(shown)}, a decision {milliseconds(decided)}\n",
        flush=True,
    )
    return [
        Target("the snapshot of a large run", milliseconds(shown), "< 40 ms", shown < 0.04),
        Target("a decision", milliseconds(decided), "< 1 ms", decided < 0.001),
    ]


def _times(action: Any, count: int) -> float:
    """The median, in seconds."""
    times = []
    for _ in range(count):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return median(times)


@transaction.atomic
def _seed_run(user: User) -> UUID:
    subtasks, attempts, events = LARGE
    run = Run.objects.create(
        account=user,
        title="Sea",
        goal="Write about the sea.",
        status=RunStatus.PAUSED,
        pause_reason="user",
        planner_model=_MODEL,
        max_subtasks=subtasks,
        max_parallel=PARALLEL,
        has_plan=True,
    )
    open_stream(stream_id=run.pk, kind=STREAM, account=user)
    open_inbox(stream_id=run.pk)
    rows = [
        Subtask.objects.create(
            run=run,
            position=n,
            key=f"s{n}",
            title=f"Part {n}",
            instructions="Write. " * 200,
            acceptance=["It is there."] * 5,
            depends_on=[f"s{m}" for m in range(max(0, n - 2), n)],
            model=_MODEL,
            assigned_by="spread",
            status=SubtaskStatus.COMPLETED,
        )
        for n in range(subtasks)
    ]
    for number in range(attempts):
        subtask = rows[number % subtasks]
        attempt = Attempt.objects.create(
            subtask=subtask,
            number=number // subtasks + 1,
            reason=AttemptReason.INITIAL,
            model=_MODEL,
            status=SubtaskStatus.COMPLETED,
            body="Deep. " * 2_000,
            summary="Deep.",
        )
        Step.objects.create(
            id=uuid7(),
            run=run,
            subtask=subtask,
            attempt=attempt,
            kind=StepKind.WORK,
            model=_MODEL,
            content="Deep. " * 2_000,
            outcome="done",
            ended_at=run.created_at,
        )
        subtask.current = attempt
        subtask.save(update_fields=["current"])
    delta = NewEvent(
        "subtask.delta",
        {"subtask_id": rows[0].pk, "attempt": 1, "offset": 0, "text": "Deep. " * 10},
    )
    for _ in range(events // 1_000):
        append(stream_id=run.pk, events=[delta] * 1_000)
    return run.pk


def _large_state() -> RunState:
    subtasks = tuple(
        SubtaskState(
            id=UUID(int=n),
            key=f"s{n}",
            depends_on=tuple(f"s{m}" for m in range(n)),
            status=SubtaskStatus.COMPLETED if n < LARGE[0] // 2 else SubtaskStatus.QUEUED,
            slot=Slot(),
        )
        for n in range(LARGE[0])
    )
    return RunState(status=RunStatus.RUNNING, subtasks=subtasks, max_parallel=PARALLEL)
