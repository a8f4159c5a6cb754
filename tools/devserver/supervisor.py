"""Starts the parts of the service in order, watches them, and stops them in order."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from devserver.console import Console
from devserver.errors import LocalError
from devserver.lines import NotableLines
from devserver.logs import put_aside
from devserver.processes import Process
from devserver.records import Records
from devserver.service import Service

# How many times a part is restarted, and after how many seconds at first; the delay doubles.
RESTARTS, FIRST_PAUSE = 3, 1.0
# A part that has run this long after it was ready has recovered: its restarts are reset.
RECOVERED_SECONDS = 60
READY_SECONDS = 120
# Seconds between two checks of the parts.
LOOK_SECONDS = 0.2
# Seconds between two checks of parts that start.
POLL_SECONDS = 0.02
NOT_READY = f"was not ready within {READY_SECONDS} seconds"
# A part that takes longer to stop is finishing work, and the console says so.
PROMPT_SECONDS = 2
# A signal to the whole process group may reach us twice; so close together, it is one signal.
ONE_WISH_SECONDS = 0.5

Stages = Sequence[Sequence[str]]


class Supervisor:
    """Runs `parts`: functions that create a service, by name.

    The parts of one stage of `start_order` start together, and the next stage waits until they are
    ready; `stop_order` likewise. A part that dies is restarted, at most RESTARTS times, whatever
    happens to the others; the count is reset once it has run well for a minute. Then it is given
    up, and the others go on; where nothing works without it, all are stopped.
    """

    def __init__(
        self,
        parts: Mapping[str, Callable[[], Service]],
        *,
        start_order: Stages,
        stop_order: Stages,
        console: Console,
        records: Records,
        logs: Path,
    ) -> None:
        self._parts = parts
        self._start_order = start_order
        self._stop_order = stop_order
        self._console = console
        self._records = records
        self._logs = logs
        for name in parts:
            put_aside(self._log_of(name))
        self._running: dict[str, Process] = {}
        self._restarts: Counter[str] = Counter()
        # When each running part was started and became ready, and when each dead one is due again.
        self._started_at: dict[str, float] = {}
        self._ready_at: dict[str, float] = {}
        self._due: dict[str, float] = {}
        self._stop = threading.Event()
        self._hurry = threading.Event()
        self._asked_at = 0.0

    def run(self, *, when_ready: Callable[[], None]) -> int:
        """Run until SIGINT, SIGTERM or SIGHUP; returns the exit code. A second signal stops at
        once."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._ask_to_stop())
        try:
            for stage in self._start_order:
                self._start(stage)
            if not self._stop.is_set():
                when_ready()
            self._watch()
        except LocalError as error:
            self._console.say(str(error))
            return 1
        finally:
            self._stop_all()
        return 0

    def _ask_to_stop(self) -> None:
        now = time.monotonic()
        if self._stop.is_set() and now - self._asked_at > ONE_WISH_SECONDS:
            self._hurry.set()
        if not self._stop.is_set():
            self._asked_at = now
            self._stop.set()

    def _start(self, names: Sequence[str]) -> None:
        """Start these parts together, and wait until each is ready, or has failed and may be
        missed. Raises LocalError for one that may not."""
        deadline = time.monotonic() + READY_SECONDS
        starting = [
            self._launch(name) for name in names if name in self._parts and not self._stop.is_set()
        ]
        while starting and not self._stop.wait(POLL_SECONDS):
            starting = [each for each in starting if not self._has_begun(each, deadline)]

    def _has_begun(self, process: Process, deadline: float) -> bool:
        """Need it not be waited for any more?"""
        try:
            if process.has_started():
                self._note_ready(process)
                return True
        except LocalError:
            if not process.service.without:
                raise
            self._miss(process)
            return True
        if time.monotonic() <= deadline:
            return False
        if not process.service.without:
            raise LocalError(process.report(NOT_READY))
        self._miss(process)
        return True

    def _note_ready(self, process: Process) -> None:
        name = process.service.name
        self._ready_at[name] = time.monotonic()
        seconds = self._ready_at[name] - self._started_at[name]
        self._console.say(
            f"{'done' if process.service.runs_once else 'ready'}: {name} ({seconds:.1f} s)"
        )
        if process.service.runs_once:
            self._forget(process)

    def _launch(self, name: str) -> Process:
        self._started_at[name] = time.monotonic()
        service = self._parts[name]()
        process = Process(service, log=self._log_of(name), on_line=self._listener(service))
        self._running[name] = process
        self._records.add(process)
        return process

    def _log_of(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def _listener(self, service: Service) -> Callable[[str], None] | None:
        """Shows what is to be shown of the lines of a part."""
        lines = NotableLines()

        def show_if_notable(line: str) -> None:
            if shown := lines.notable(line):
                self._console.say(shown, of=service.name)

        match service.shows:
            case "all":
                return lambda line: self._console.say(line, of=service.name)
            case "notable":
                return show_if_notable
            case "nothing":
                return None

    def _forget(self, process: Process) -> None:
        self._running.pop(process.service.name, None)
        self._records.remove(process)

    def _watch(self) -> None:
        """Check the parts. This never waits: a restarted part may need another part that has died
        too."""
        while not self._stop.wait(LOOK_SECONDS):
            for process in list(self._running.values()):
                if process.exit_code is not None:
                    self._restart_soon(process)
                elif process.service.name not in self._ready_at:
                    self._check_ready(process)
            for name, moment in list(self._due.items()):
                if time.monotonic() >= moment:
                    del self._due[name]
                    self._launch(name)

    def _check_ready(self, process: Process) -> None:
        if process.service.is_ready():
            self._note_ready(process)
        elif time.monotonic() - self._started_at[process.service.name] > READY_SECONDS:
            self._restart_soon(process)

    def _restart_soon(self, process: Process) -> None:
        """Schedule the restart of a part that has died, or does not get ready. One that keeps dying
        is given up. Raises LocalError where nothing works without it."""
        name = process.service.name
        what = f"ended unexpectedly (exit {process.exit_code})"
        if process.exit_code is None:
            what = NOT_READY
            process.kill()
        self._forget(process)
        ready_at = self._ready_at.pop(name, None)
        if ready_at is not None and time.monotonic() - ready_at >= RECOVERED_SECONDS:
            del self._restarts[name]
        if self._restarts[name] == RESTARTS:
            self._give_up(process, what)
            return
        pause = FIRST_PAUSE * 2 ** self._restarts[name]
        self._restarts[name] += 1
        self._due[name] = time.monotonic() + pause
        log = self._log_of(name)
        self._console.say(f"{name} {what}; it is started again in {pause:.0f} s. Its log: {log}")

    def _give_up(self, process: Process, what: str) -> None:
        """Go on without the part. Raises LocalError where nothing works without it."""
        service = process.service
        report = f"{process.report(what)}\nIt was started again {RESTARTS} times"
        if not service.without:
            raise LocalError(f"{report}. Stopping all.")
        self._console.say(
            f"{report}, and {service.name} is given up. {service.without} Everything else goes on. "
            f"Its log: {self._log_of(service.name)}; to try again, stop all and `make run`."
        )

    def _miss(self, process: Process) -> None:
        """Try again later to start a part that may be missed. A step is not done again: its last
        line says why it has failed."""
        service, why = process.service, process.last_line()
        if not service.runs_once:
            self._restart_soon(process)
            return
        if process.exit_code is None:
            process.kill()
            why = f"It {NOT_READY}."
        self._forget(process)
        self._console.say(
            f"failed: {service.name}. {why} {service.without} Everything else goes on. "
            f"Its log: {self._log_of(service.name)}"
        )

    def _stop_all(self) -> None:
        for stage in self._stop_order:
            processes = [self._running[name] for name in stage if name in self._running]
            if processes:
                names = ", ".join(process.service.name for process in processes)
                self._console.say(f"stopping {names}")
                self._stop_together(processes)
        self._console.say("stopped")

    def _stop_together(self, processes: Sequence[Process]) -> None:
        alive = [process for process in processes if process.exit_code is None]
        for process in alive:
            process.ask_to_stop()
        notice = threading.Timer(PROMPT_SECONDS, self._report_waiting, [alive])
        notice.start()
        for process in processes:
            clean = process.wait_stopped(hurry=self._hurry)
            self._forget(process)
            if process in alive and not clean:
                self._console.say(process.report(f"did not stop cleanly ({process.exit_code})"))
        notice.cancel()

    def _report_waiting(self, stopping: Sequence[Process]) -> None:
        finishing = {process.service.finishes for process in stopping if process.exit_code is None}
        if reasons := sorted(finishing - {""}):
            self._console.say(f"waiting for {', '.join(reasons)}; Ctrl-C again ends them now")
