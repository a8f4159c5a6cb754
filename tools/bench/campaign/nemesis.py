"""Breaks what a life stands on, at the times of its schedule, and mends it again."""

import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

import psutil
import psycopg
import redis
from kombu.exceptions import OperationalError

from bench.campaign.parts import Part, Parts
from bench.campaign.paths import Path
from bench.campaign.recovery import Breakage
from bench.campaign.schedule import Fault
from bench.campaign.stores import ROLE, Stores
from work.jobs.models import Job
from work.jobs.tasks import run_job

# After these, what was produced may be lost to the platform (docs/decisions/0006): a process ends,
# or loses its lease.
LOSSY = frozenset(
    {
        "kill a web process",
        "kill a worker",
        "freeze a web process",
        "freeze a worker",
        "stall PostgreSQL",
        "cut off PostgreSQL",
        "use up connections of PostgreSQL",
        "fill the disk of PostgreSQL",
        "slow down PostgreSQL",
        "restart PostgreSQL",
        "crash PostgreSQL",
        "step the clock",
    }
)
# Nothing is broken by them while the life goes on: the service has to recover.
MOMENTARY = frozenset(
    {
        "kill a web process",
        "kill a worker",
        "kill beat",
        "restart PostgreSQL",
        "crash PostgreSQL",
        "flush Redis",
        "restart Redis",
        "empty Redis",
    }
)
# Tables whose INSERTs fail as on a full disk, or wait as on a slow one.
TABLES = ("billing_ledgerentry", "billing_charge", "events_event", "jobs_job", "files_storedfile")
# Seconds between two losses of messages, and between two repetitions of all.
_OFTEN, _SOMETIMES = 0.02, 0.3
_AWAY = 1.0  # seconds that a server is away

Break = AbstractContextManager[None]


class Nemesis:
    """Breaks one thing after the other: `carry_out` returns when it is mended. `done` is what was
    broken."""

    def __init__(
        self, stores: Stores, parts: Parts, database: Path, broker: Path, providers: Path
    ) -> None:
        self._stores = stores
        self._parts = parts
        self._database = database
        self._broker = broker
        self._providers = providers
        # One thing at a time is done to the server itself.
        self._of_postgres, self._of_redis = threading.Lock(), threading.Lock()
        self.done: list[Breakage] = []

    def carry_out(self, fault: Fault) -> None:
        breakage = Breakage(fault.kind, time.time())
        with self._break(fault):
            self.done.append(breakage)
            breakage.over_at = time.monotonic()
            time.sleep(fault.seconds)
        if fault.kind not in MOMENTARY:
            breakage.over_at = time.monotonic()

    def heal(self) -> None:
        """Mend whatever is still broken."""
        for path in (self._database, self._broker, self._providers):
            path.heal()
        for part in self._parts.all:
            part.send(signal.SIGCONT)
            _limit_files(part, None)
        self._stores.start_postgres()
        with suppress(redis.RedisError, OSError):
            psutil.Process(self._stores.redis_pid()).resume()
        self._stores.start_redis(is_empty=True)
        self._stores.as_superuser("ALTER ROLE {} CONNECTION LIMIT -1", ROLE, database="postgres")
        for table in TABLES:
            self._stores.as_superuser("DROP TRIGGER IF EXISTS campaign ON {}", table)

    def _break(self, fault: Fault) -> Break:
        parts, pick = self._parts, fault.pick
        web, worker = (group[pick % len(group)] for group in (parts.webs, parts.workers))
        breaks: dict[str, Callable[[], Break]] = {
            "kill a web process": lambda: _once(web.kill),
            "kill a worker": lambda: _once(worker.kill),
            "kill beat": lambda: _once(parts.beat.kill),
            "freeze a web process": lambda: _frozen(web),
            "freeze a worker": lambda: _frozen(worker),
            "cut statements before PostgreSQL": lambda: self._losing(pick, replies=False),
            "cut replies of PostgreSQL": lambda: self._losing(pick, replies=True),
            "cut off PostgreSQL": lambda: _undone(self._database.cut, self._database.heal),
            "stall PostgreSQL": lambda: _undone(self._database.stall, self._database.heal),
            "restart PostgreSQL": lambda: self._postgres_away(in_order=True),
            "crash PostgreSQL": lambda: self._postgres_away(in_order=False),
            "use up connections of PostgreSQL": self._few_connections,
            "fill the disk of PostgreSQL": lambda: self._inserts(
                "RAISE EXCEPTION 'No space left on device.' USING ERRCODE = 'disk_full'", pick
            ),
            "slow down PostgreSQL": lambda: self._inserts("PERFORM pg_sleep(0.3)", pick),
            "cut off Redis": lambda: _undone(self._broker.cut, self._broker.heal),
            "flush Redis": lambda: _once(self._flush_redis),
            "freeze Redis": self._frozen_redis,
            "restart Redis": lambda: self._redis_away(is_empty=False),
            "empty Redis": lambda: self._redis_away(is_empty=True),
            "lose messages": lambda: _repeatedly(self._lose_messages, _OFTEN),
            "repeat messages": lambda: _repeatedly(self._repeat_messages, _SOMETIMES),
            "fill the storage of files": self._no_room_for_files,
            "cut off the providers": lambda: _undone(self._providers.cut, self._providers.heal),
            "stall the providers": lambda: _undone(self._providers.stall, self._providers.heal),
            "step the clock": lambda: self._stepped_clock(pick),
        }
        return breaks[fault.kind]()

    # --- PostgreSQL -------------------------------------------------------------------------------

    @contextmanager
    def _losing(self, pick: int, *, replies: bool) -> Iterator[None]:
        """One in some of all statements that change something is lost, or its reply."""
        turns = iter(range(1, 1_000_000))
        lock = threading.Lock()

        def is_lost() -> bool:
            with lock:
                return next(turns) % (7 + pick % 20) == 0

        self._database.lose(**{"replies" if replies else "requests": is_lost})
        yield
        self._database.lose()

    @contextmanager
    def _postgres_away(self, *, in_order: bool) -> Iterator[None]:
        with self._of_postgres:
            self._stores.stop_postgres(in_order=in_order)
            time.sleep(_AWAY)
            self._stores.start_postgres()
        yield

    @contextmanager
    def _few_connections(self) -> Iterator[None]:
        """The service gets no connection beyond the few that it has."""
        self._stores.as_superuser("ALTER ROLE {} CONNECTION LIMIT 3", ROLE, database="postgres")
        self._stores.as_superuser(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND state = 'idle'"
        )
        yield
        self._stores.as_superuser("ALTER ROLE {} CONNECTION LIMIT -1", ROLE, database="postgres")

    @contextmanager
    def _inserts(self, what: str, pick: int) -> Iterator[None]:
        table = TABLES[pick % len(TABLES)]
        run = self._stores.as_superuser
        run(
            "CREATE OR REPLACE FUNCTION campaign() RETURNS trigger LANGUAGE plpgsql"
            f" AS $$ BEGIN {what}; RETURN NEW; END $$"
        )
        run(
            "CREATE OR REPLACE TRIGGER campaign BEFORE INSERT ON {}"
            " FOR EACH ROW EXECUTE FUNCTION campaign()",
            table,
        )
        yield
        run("DROP TRIGGER IF EXISTS campaign ON {}", table)

    @contextmanager
    def _stepped_clock(self, pick: int) -> Iterator[None]:
        """The clock of money and leases goes up to two minutes forwards or backwards, and steps
        back."""
        with self._of_postgres:
            self._stores.step_clock(2.4 * (pick - 50))
        yield
        with self._of_postgres:
            self._stores.step_clock(0.0)

    # --- Redis and its messages -------------------------------------------------------------------

    def _flush_redis(self) -> None:
        with self._of_redis:
            self._stores.redis().flushall()

    @contextmanager
    def _frozen_redis(self) -> Iterator[None]:
        with self._of_redis:
            process = psutil.Process(self._stores.redis_pid())
            process.suspend()
            yield
            process.resume()

    @contextmanager
    def _redis_away(self, *, is_empty: bool) -> Iterator[None]:
        with self._of_redis:
            self._stores.stop_redis()
            time.sleep(_AWAY)
            self._stores.start_redis(is_empty=is_empty)
        yield

    def _lose_messages(self) -> None:
        """Whatever waits in the queues is thrown away."""
        with suppress(redis.RedisError):
            self._stores.redis().delete(*Job.Queue.values)

    def _repeat_messages(self) -> None:
        """The workers are told of every job once more, also of those that run or have ended."""
        with suppress(psycopg.Error, OperationalError):
            for job_id, queue in self._stores.as_superuser("SELECT id, queue FROM jobs_job"):
                run_job.apply_async((str(job_id),), queue=queue, retry=False)

    # --- Files ------------------------------------------------------------------------------------

    @contextmanager
    def _no_room_for_files(self) -> Iterator[None]:
        """No process can write a byte to a file."""
        for part in (*self._parts.webs, *self._parts.workers):
            _limit_files(part, 0)
        yield
        for part in (*self._parts.webs, *self._parts.workers):
            _limit_files(part, None)


@contextmanager
def _once(what: Callable[[], object]) -> Iterator[None]:
    what()
    yield


@contextmanager
def _repeatedly(what: Callable[[], object], pause: float) -> Iterator[None]:
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(pause):
            what()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    yield
    is_over.set()
    thread.join()


@contextmanager
def _undone(begin: Callable[[], None], end: Callable[[], None]) -> Iterator[None]:
    begin()
    yield
    end()


@contextmanager
def _frozen(part: Part) -> Iterator[None]:
    part.send(signal.SIGSTOP)
    yield
    part.send(signal.SIGCONT)


def _limit_files(part: Part, size: int | None) -> None:
    """How far the process can write into a file, in bytes; None: as far as it could."""
    if part.process.exit_code is not None:
        return
    with suppress(ProcessLookupError):
        _, most = resource.prlimit(part.process.pid, resource.RLIMIT_FSIZE)
        soft = most if size is None else size
        resource.prlimit(part.process.pid, resource.RLIMIT_FSIZE, (soft, most))
