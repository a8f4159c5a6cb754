"""One life of the service: its processes, its clients, its nemesis, and the oracle at its end."""

import json
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path as Folder

from django.db import connection

from bench.campaign.acts import ACTS
from bench.campaign.acts.again import ask_again
from bench.campaign.asking import Asker, Clock, Departed, Endpoints, GaveUp
from bench.campaign.nemesis import LOSSY, Nemesis
from bench.campaign.notes import Note
from bench.campaign.oracle import files, money, quiet, repositories, sessions, teams
from bench.campaign.parts import DRAIN_SECONDS, Parts
from bench.campaign.paths import Path
from bench.campaign.people import Person, new_operator_session, new_people
from bench.campaign.recovery import Breakage, Watch
from bench.campaign.schedule import LEAVER, Act, Fault, Schedule
from bench.campaign.stores import LIFE, Stores
from devserver.configuration import simulated_connectors
from devserver.paths import PYTHONPATH
from simulator import process as simulator
from simulator.process import RunningSimulator

_READY_SECONDS = 60
# After all is healed: for clients to get their answers, and for all work to end.
_ANSWER_SECONDS, _QUIET_SECONDS = 25.0, 40.0
_LOOK = 0.2
_THREADS = 40


@dataclass
class Outcome:
    """What came of a life. `lost` counts answers that were never paid, because their process
    died."""

    schedule: Schedule
    folder: Folder
    violations: list[str] = field(default_factory=list)
    acts: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    breakages: list[Breakage] = field(default_factory=list)
    calls: int = 0
    lost: int = 0
    seconds: float = 0


class Life:
    """Lives once, on stores that other lives have used before."""

    def __init__(self, schedule: Schedule, stores: Stores, folder: Folder) -> None:
        self._schedule = schedule
        self._stores = stores
        self._outcome = Outcome(schedule, folder)
        self._outputs, self._uploads = folder / "outputs", folder / "uploads"
        self._notes = [_note(act, schedule.seed) for act in schedule.acts]
        self._clock: Clock
        self._parts: Parts
        self._endpoints: Endpoints
        self._people: list[Person]

    def live(self) -> Outcome:
        """Live, and judge."""
        began_at = time.monotonic()
        self._stores.begin_life(self._clock_shift())
        connection.close()
        with ExitStack() as stack:
            providers = stack.enter_context(simulator.running())
            database, broker, upstream = (
                stack.enter_context(Path(port))
                for port in (self._stores.postgres_port, self._stores.redis_port, providers.port)
            )
            environment = self._environment(database.port, broker.port, upstream.url, providers.url)
            self._parts = Parts(environment, self._outcome.folder, self._stores.redis_url())
            try:
                self._people = new_people()
                self._endpoints = Endpoints(
                    self._parts.urls, providers, upstream.url, new_operator_session()
                )
                # The next one may meet a server that was started again.
                connection.close()
                self._parts.wait_until_ready(_READY_SECONDS)
                self._parts.begin_tending()
                nemesis = Nemesis(self._stores, self._parts, database, broker, upstream)
                with Watch(self._parts, self._people[0], self._stores, nemesis.done) as watch:
                    self._happen(nemesis)
                    self._judge(providers)
                watch.judge(providers.calls())
                self._outcome.breakages = nemesis.done
            except Exception:
                self._outcome.violations.append(f"the campaign broke: {traceback.format_exc()}")
            finally:
                for path in (database, broker, upstream):
                    path.heal()
                self._outcome.violations += self._parts.stop()
        self._outcome.seconds = time.monotonic() - began_at
        return self._outcome

    # --- What happens -----------------------------------------------------------------------------

    def _happen(self, nemesis: Nemesis) -> None:
        """The schedule; then all is healed, and everybody gets an answer."""
        self._clock = Clock(time.monotonic())
        with ThreadPoolExecutor(_THREADS) as threads:
            acts = [threads.submit(self._act, note) for note in self._notes]
            faults = [
                threads.submit(self._fault, nemesis, fault) for fault in self._schedule.faults
            ]
            self._wait_until(self._schedule.seconds)
            self._results(faults, "the nemesis")
            nemesis.heal()
            self._clock.gives_up_at = self._clock.now + _ANSWER_SECONDS
            self._results(acts, "a client")
            again = [note for note in self._notes if note.name and note.ended == "done"]
            self._clock.gives_up_at = self._clock.now + _ANSWER_SECONDS
            self._results([threads.submit(self._ask_again, note) for note in again], "a client")

    def _act(self, note: Note) -> None:
        self._wait_until(note.act.at)
        self._carry_out(note, ACTS[note.act.kind])

    def _ask_again(self, note: Note) -> None:
        self._carry_out(note, ask_again)

    def _carry_out(self, note: Note, what: Callable[[Asker], None]) -> None:
        leaves = any(act.kind == "departure" for act in self._schedule.acts)
        asker = Asker(
            note,
            self._people[note.act.person],
            self._endpoints,
            self._clock,
            departs=leaves and note.act.person == LEAVER,
        )
        try:
            what(asker)
            note.ended = f"refused: {note.seen['refusal']}" if "refusal" in note.seen else "done"
        except Departed:
            note.ended = "departed"
        except GaveUp as failure:
            note.ended = "gave up"
            note.wrong.append(f"gave up: {failure}")
        except Exception:
            note.ended = "broke"
            note.wrong.append(traceback.format_exc())
        finally:
            connection.close()

    def _fault(self, nemesis: Nemesis, fault: Fault) -> None:
        self._wait_until(fault.at)
        nemesis.carry_out(fault)

    def _wait_until(self, at: float) -> None:
        time.sleep(max(0.0, at - self._clock.now))

    def _results(self, futures: list[Future[None]], whose: str) -> None:
        for future in futures:
            if failure := future.exception():
                text = "".join(traceback.format_exception(failure))
                self._outcome.violations.append(f"{whose} broke: {text}")

    # --- What must be true ------------------------------------------------------------------------

    def _judge(self, providers: RunningSimulator) -> None:
        outcome = self._outcome
        deadline = time.monotonic() + _QUIET_SECONDS
        while (left := quiet.find_open_work()) and time.monotonic() < deadline:
            time.sleep(_LOOK)
        journal = providers.calls()
        self._keep("journal.json", journal)
        self._keep("notes.json", [note.as_json() for note in self._notes])
        self._keep("schedule.json", asdict(self._schedule))
        outcome.calls = len(journal)
        outcome.violations += [f"{each} after {_QUIET_SECONDS:.0f} s" for each in left]
        outcome.violations += self._parts.unexpected_endings()
        outcome.violations += money.check_invariants()
        is_lossy = any(fault.kind in LOSSY for fault in self._schedule.faults)
        of_books, outcome.lost = money.books(self._notes, journal, is_lossy=is_lossy).check()
        outcome.violations += of_books
        outcome.violations += money.check_costs()
        outcome.violations += money.check_topups(self._people, self._notes)
        outcome.violations += sessions.check_gaps()
        outcome.violations += files.check_rows_and_files(self._outputs, self._uploads)
        reader = sessions.Reader(self._parts.urls)
        for note in self._notes:
            outcome.acts[note.act.kind] += 1
            outcome.endings[note.ended] += 1
            outcome.violations += [f"{note}: {each}" for each in note.wrong]
            self._check_sessions(note, reader)
        connection.close()

    def _check_sessions(self, note: Note, reader: sessions.Reader) -> None:
        """Of an account that was not closed."""
        closed = any(each.act.kind == "departure" for each in self._notes)
        if closed and note.act.person == LEAVER:
            return
        person = self._people[note.act.person]
        for check in (sessions.check_followed, sessions.check_replies, files.check_jobs):
            self._outcome.violations += check(note, person, reader)
        self._outcome.violations += teams.check_shared(note, self._people, reader)
        self._outcome.violations += files.check_uploads(note, self._uploads)
        self._outcome.violations += repositories.check_commits(note)

    # --- What it stands on ------------------------------------------------------------------------

    def _environment(
        self, database: int, broker: int, upstream: str, pages: str
    ) -> Mapping[str, str]:
        """`upstream` leads to the providers over what the nemesis cuts, `pages` to those that
        people open in their browsers."""
        return {
            **simulated_connectors(upstream),
            "GOOGLE_ACCOUNTS_URL": f"{pages}/google-accounts",
            "PYTHONPATH": PYTHONPATH,
            "DJANGO_SETTINGS_MODULE": "bench.campaign.settings",
            "DATABASE_URL": self._stores.database_url(LIFE, database),
            "REDIS_URL": self._stores.redis_url(broker),
            "SIMULATOR_URL": upstream,
            "OUTPUTS_DIR": str(self._outputs),
            "UPLOADS_DIR": str(self._uploads),
            "DRAIN_SECONDS": str(DRAIN_SECONDS),
            "SELF_SERVICE_TOPUP": "1",
            "LOG_JSON": "1",
        }

    def _clock_shift(self) -> float:
        """Seconds by which the clock of money is ahead, so that a month ends when it is due."""
        if self._schedule.month_ends_at is None:
            return 0.0
        now = datetime.now(UTC)
        next_month = (now.replace(day=1) + timedelta(days=32)).replace(
            day=1, hour=0, minute=0, second=0, microsecond=0
        )
        # The processes take a few seconds to start.
        return (next_month - now).total_seconds() - self._schedule.month_ends_at - 3

    def _keep(self, name: str, what: object) -> None:
        path = self._outcome.folder / name
        path.write_text(json.dumps(what, indent=1, default=str))


def _note(act: Act, seed: int) -> Note:
    """Markers are the same in each life of a seed; names are those of requests that have one."""
    marker = f"act-{seed}-{act.number}"
    named = act.options.get("named", act.kind not in ("chat", "embeddings", "picture_call"))
    return Note(act, marker, f"name-{seed}-{act.number}" if named else None)
