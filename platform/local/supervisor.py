"""Starts the parts of the service in order, watches them, and stops them in order."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from local.console import Console
from local.errors import LocalError
from local.processes import Process
from local.records import Records
from local.service import Service

# How many times a part is restarted, and after how many seconds at first; the delay doubles.
RESTARTS, FIRST_PAUSE = 3, 1.0
# A part that has run this long after it was ready has recovered: its restarts are reset.
RECOVERED_SECONDS = 60
READY_SECONDS = 120
# Seconds between two checks of the parts.
LOOK_SECONDS = 0.2
# A part that takes longer to stop is finishing work, and the console says so.
PROMPT_SECONDS = 2
# A signal to the whole process group may reach us twice; so close together, it is one signal.
ONE_WISH_SECONDS = 0.5

Stages = Sequence[Sequence[str]]


class Supervisor:
    """Runs `parts`: functions that create a service, by name.

    The parts of one stage of `start_order` start together, and the next stage waits until they are
    ready; `stop_order` likewise. A part that dies once all are ready is restarted, at most RESTARTS
    times, whatever happens to the others; the count is reset once it has run well for a minute.
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
        started_at = time.monotonic()
        started = []
        for name in names:
            if name in self._parts and not self._stop.is_set():
                self._console.say(f"starting {name}")
                started.append(self._launch(name))
        for process in started:
            process.wait_until_ready(timeout=READY_SECONDS, unless=self._stop)
            self._ready_at[process.service.name] = time.monotonic()
            if process.service.runs_once:
                self._forget(process)
        if started and not self._stop.is_set():
            names = [process.service.name for process in started]
            self._console.say(f"ready: {', '.join(names)} ({time.monotonic() - started_at:.1f} s)")

    def _launch(self, name: str) -> Process:
        service = self._parts[name]()
        process = Process(
            service,
            log=self._logs / f"{name}.log",
            on_line=None if service.quiet else lambda line: self._console.say(line, of=name),
        )
        self._running[name] = process
        self._records.add(process)
        return process

    def _forget(self, process: Process) -> None:
        self._running.pop(process.service.name, None)
        self._records.remove(process)

    def _watch(self) -> None:
        """Check the parts. This never waits: a restarted part may need another part that has died
        too."""
        while not self._stop.wait(LOOK_SECONDS):
            for process in list(self._running.values()):
                if process.exit_code is not None:
                    self._restart_soon(process, f"ended unexpectedly (exit {process.exit_code})")
                elif process.service.name not in self._ready_at:
                    self._check_ready(process)
            for name, moment in list(self._due.items()):
                if time.monotonic() >= moment:
                    del self._due[name]
                    self._console.say(f"starting {name}")
                    self._started_at[name] = time.monotonic()
                    self._launch(name)

    def _check_ready(self, process: Process) -> None:
        name = process.service.name
        seconds = time.monotonic() - self._started_at[name]
        if process.service.is_ready():
            self._ready_at[name] = time.monotonic()
            self._console.say(f"ready: {name} ({seconds:.1f} s)")
        elif seconds > READY_SECONDS:
            process.kill()
            self._restart_soon(process, f"was not ready within {READY_SECONDS} seconds")

    def _restart_soon(self, process: Process, what: str) -> None:
        """Schedule the restart of a dead part. Raises LocalError when it keeps dying."""
        name = process.service.name
        self._forget(process)
        report = process.report(what)
        ready_at = self._ready_at.pop(name, None)
        if ready_at is not None and time.monotonic() - ready_at >= RECOVERED_SECONDS:
            del self._restarts[name]
        if self._restarts[name] == RESTARTS:
            raise LocalError(f"{report}\nIt was started again {RESTARTS} times. Stopping all.")
        pause = FIRST_PAUSE * 2 ** self._restarts[name]
        self._restarts[name] += 1
        self._due[name] = time.monotonic() + pause
        self._console.say(f"{report}\nStarting {name} again in {pause:.0f} s.")

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
