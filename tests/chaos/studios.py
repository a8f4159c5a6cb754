"""Jobs of the studios for tests of what goes wrong: one of each kind, each of a person of their
own, and a worker that is going to die with them."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import psutil
import psycopg
from django.db import connection
from django.db.models.functions import Now

from ai.operations.models import Operation
from ai.operations.types import State
from billing.models import Charge
from billing.tests import bank
from media.files.models import StoredFile
from simulator.process import RunningSimulator
from studios.models import Generation, GenerationOutput
from studios.tests.artist import Artist, Job, generation_of, new_artist
from tests.locks import end_blocked, wait_until_blocked
from tests.service import database_url
from tests.stopwatch import Stopwatch
from tests.worker import Worker, running_worker
from work.jobs.lost import MAX_LOSSES
from work.jobs.models import Job as JobRow
from work.jobs.tests.queueing import job_of, wait_until

MODELS = {"image": "gpt-image-2.5-flare", "video": "gen4.5", "3d": "tripo-h3"}
# Those that work for minutes: their providers know a job once it was submitted.
SLOW = ("video", "3d")
# What a job of each kind is billed by.
UNITS = {"image": {"images": 1}, "video": {"seconds": 2}, "3d": {"assets": 1}}
ENDS = ("job.completed", "job.failed", "job.cancelled")
# A picture that takes that long is still being made when the worker dies.
LONG_MS = 60_000

Holder = psycopg.Connection[Any]


@dataclass
class Ordered:
    """A job of a person who has no other."""

    person: Artist
    kind: str
    job: Job

    @property
    def id(self) -> UUID:
        return UUID(self.job["id"])

    @property
    def operation(self) -> Operation:
        return Operation.objects.get(pk=self.id)

    @property
    def submissions(self) -> list[str]:
        """What became of each order that reached a provider."""
        return self.person.submissions()

    def is_in_step(self, state: State) -> bool:
        """Does a worker take a step in this state?"""
        is_running = job_of(self.id).status == JobRow.Status.RUNNING
        return is_running and self.operation.state == state.value

    def waits(self) -> bool:
        """Does it wait for its next poll?"""
        is_scheduled = job_of(self.id).status == JobRow.Status.SCHEDULED
        return is_scheduled and self.operation.state == State.RUNNING.value

    def has_ended(self) -> bool:
        return generation_of(self.job).ended_at is not None

    def has_lost_its_worker(self) -> bool:
        """Is it still to continue what a worker has left?"""
        return not self.has_ended() and job_of(self.id).losses > 0

    def is_lost(self) -> bool:
        """Does nobody know what its provider does, now that its worker is dead? Or is it given up,
        because too many workers have died with it?"""
        if self.has_ended():
            is_failed = generation_of(self.job).status == "failed"
            return is_failed and job_of(self.id).losses == MAX_LOSSES
        return self.operation.state == State.SUBMITTING.value

    def told_ends(self) -> list[str]:
        """The ends that the user's stream tells."""
        return [name for name, _ in self.person.events(self.job) if name in ENDS]

    # --- What must be true whatever has died -----------------------------------------------------

    def check_end(
        self, status: str, *, is_unreconciled: bool = False, submissions: int = 1
    ) -> None:
        """It has this end, once: told once, submitted once, and billed for what was delivered."""
        shown = self.person.ended(self.job)
        assert shown["status"] == status
        assert Generation.objects.filter(account=self.person.user).count() == 1
        assert self.told_ends() == [f"job.{status}"]
        assert self.person.events(self.job)[-1][0] == f"job.{status}"
        assert self.operation.is_unreconciled is is_unreconciled
        assert len(self.submissions) == submissions
        self.check_bill(is_billed=status == "completed")
        self.person.check_money()
        assert len(shown["outputs"]) == (status == "completed")
        assert all(self.person.file(output["url"]) for output in shown["outputs"])
        self.check_files()

    def check_bill(self, *, is_billed: bool) -> None:
        """There is one charge, which has ended; only what was delivered is on it."""
        charge = Charge.objects.get(account=self.person.user)
        assert charge.pk == self.id
        assert charge.status == ("settled" if is_billed else "released")
        assert charge.units == (UNITS[self.kind] if is_billed else {})
        assert (charge.cost > 0) is is_billed
        assert bank.wallet_of(self.person.user).held == 0

    def check_files(self) -> None:
        """The files that are kept are those of the results."""
        outputs = GenerationOutput.objects.filter(generation__account=self.person.user)
        pairs = outputs.values_list("file_id", "thumbnail_id")
        shown = {each for pair in pairs for each in pair if each is not None}
        kept = StoredFile.objects.filter(account=self.person.user, is_kept=True)
        assert set(kept.values_list("pk", flat=True)) == shown


class Scene:
    """A worker that is going to die, with what holds its jobs up until then."""

    def __init__(self, http: httpx.Client, simulator: RunningSimulator, worker: Worker) -> None:
        self.worker = worker
        self._http = http
        self._simulator = simulator
        self._holders: list[Holder] = []
        self._inspectors: list[psutil.Process] = []
        self._open = ExitStack()

    def order(self, *kinds: str, **steering: Any) -> list[Ordered]:
        """A job of each kind. `steering` is that of the simulator."""
        return [order(self._http, self._simulator, kind, **steering) for kind in kinds]

    def lock(self, table: str, column: str, keys: list[UUID]) -> Holder:
        """Somebody else holds these rows until the worker is dead."""
        holder = self._new_holder()
        holder.execute(f"SELECT FROM {table} WHERE {column} = ANY (%s) FOR UPDATE", (keys,))
        return holder

    def lock_inserts(self, table: str) -> Holder:
        """Nobody can add a row to the table until the worker is dead."""
        holder = self._new_holder()
        holder.execute(f"LOCK TABLE {table} IN SHARE MODE")
        return holder

    @contextmanager
    def standstill(self) -> Iterator[None]:
        """The worker does nothing until the block ends."""
        self.worker.freeze()
        yield
        self.worker.thaw()

    def stop_inspectors(self) -> int:
        """Stop the inspectors of results that have begun. Returns how many are stopped."""
        for process in psutil.Process(self.worker.process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if process not in self._inspectors and "media.probe.inspector" in process.cmdline():
                    process.suspend()
                    self._inspectors.append(process)
        return len(self._inspectors)

    def kill(self) -> None:
        """The worker is killed, and its statements end with it."""
        self.worker.freeze()
        ports = _ports_of(self.worker)
        self.worker.kill()
        for holder in self._holders:
            end_blocked(holder)
        self._open.close()
        for inspector in self._inspectors:
            with suppress(psutil.NoSuchProcess):  # the worker may have ended it before
                inspector.kill()
        # What it has sent to the server may still be carried out.
        wait_until(lambda: not _count_sessions(ports))

    def _new_holder(self) -> Holder:
        holder = self._open.enter_context(psycopg.connect(database_url()))
        self._holders.append(holder)
        return holder


@contextmanager
def dying_worker(http: httpx.Client, simulator: RunningSimulator) -> Iterator[Scene]:
    """A worker that is killed when the block ends."""
    with running_worker(simulator) as worker:
        scene = Scene(http, simulator, worker)
        try:
            yield scene
        finally:
            scene.kill()


def kill_simulator(simulator: RunningSimulator) -> None:
    """kill -9 of a simulator that was started with the option of its port."""
    option = f"--port={simulator.port}"
    [process] = [each for each in psutil.Process().children() if option in each.cmdline()]
    process.kill()


def order(http: httpx.Client, simulator: RunningSimulator, kind: str, **steering: Any) -> Ordered:
    """A job of a new person."""
    person = new_artist(http, simulator)
    return Ordered(person, kind, person.order(MODELS[kind], steering=steering))


def wait_for(ordered: list[Ordered], state: State) -> None:
    """Until a worker takes a step of each of them in this state."""
    wait_in_haste(ordered, lambda each: each.is_in_step(state))


def wait_for_results(ordered: list[Ordered]) -> None:
    """Until a worker has each result in hand, or a picture on its way."""
    wait_in_haste(ordered, lambda each: each.kind == "image" or each.is_in_step(State.FETCHING))


def wait_in_haste(ordered: list[Ordered], what: Callable[[Ordered], bool]) -> None:
    """Until it is true of each of them. They do not pause between two steps."""
    _wait_in_haste(ordered, lambda: all(what(each) for each in ordered))


def wait_for_an_end_of_each_kind(ordered: list[Ordered]) -> None:
    """Until one job of each kind has ended. They do not pause between two steps."""
    kinds = {each.kind for each in ordered}
    _wait_in_haste(ordered, lambda: {each.kind for each in ordered if each.has_ended()} == kinds)


def hasten(ordered: list[Ordered], *, seconds: float) -> None:
    """They do not pause between two steps, for so long."""
    with Stopwatch() as watch:
        while watch.seconds < seconds:
            _end_pauses(ordered)
            time.sleep(0.05)


def wait_for_blocked(holder: Holder, ordered: list[Ordered]) -> None:
    """Until the work on each of them waits for the holder's locks."""
    wait_until_blocked(holder, waiters=len(ordered))


def _wait_in_haste(ordered: list[Ordered], is_true: Callable[[], bool]) -> None:
    def is_true_now() -> bool:
        _end_pauses(ordered)
        return is_true()

    wait_until(is_true_now, seconds=60)


def _end_pauses(ordered: list[Ordered]) -> None:
    waiting = JobRow.objects.filter(pk__in=[each.id for each in ordered])
    waiting.filter(status=JobRow.Status.SCHEDULED).update(due_at=Now())


def _ports_of(worker: Worker) -> list[int]:
    """The ports from which a worker speaks to the database. Its connections to other servers may
    have the same port as some other process's session of the database."""
    database = int(connection.get_connection_params()["port"])
    connections = psutil.Process(worker.process.pid).net_connections("tcp")
    return [each.laddr.port for each in connections if each.raddr and each.raddr.port == database]


def _count_sessions(ports: list[int]) -> int:
    """The sessions of our database that come from these ports."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE client_port = ANY (%s) AND datname = current_database()",
            (ports,),
        )
        count: int = cursor.fetchone()[0]
    return count
