"""The supervisor: order, signals, deaths and what a killed run leaves behind."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import pytest

from devserver.paths import ROOT
from devserver.processes import command_of
from tests.environment import inherited

SECONDS = 20


class Run:
    """A supervisor process over tiny parts, and what it wrote so far."""

    def __init__(self, folder: Path, *modes: str) -> None:
        self.folder = folder
        self.output = ""
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "tests.tiny_parts", str(folder), *modes],
            env=inherited(),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def journal(self) -> list[str]:
        return (self.folder / "journal").read_text().splitlines()

    def read_until(self, text: str) -> str:
        """Read on until a line has `text` in it. Returns that line."""
        assert self._popen.stdout
        line = ""
        while text not in line:
            line = self._popen.stdout.readline()
            assert line, f"{text!r} was never written:\n{self.output}"
            self.output += line
        return line

    def kill(self, *parts: str) -> None:
        """kill -9, all at once."""
        for pid in [self.pid_of(part) for part in parts]:
            os.kill(pid, signal.SIGKILL)

    def send(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def exit_code(self) -> int:
        rest, _ = self._popen.communicate(timeout=SECONDS)
        self.output += rest
        return self._popen.returncode

    def pid_of(self, part: str) -> int:
        return int(json.loads((self.folder / "run" / f"{part}.json").read_text())["pid"])

    def end(self) -> None:
        """Whatever the test did, leave nothing behind."""
        self._popen.kill()
        self._popen.communicate()
        for path in (self.folder / "run").glob("*.json"):
            entry = json.loads(path.read_text())
            if command_of(entry["pid"])[1:] == tuple(entry["command"][1:]):
                os.kill(entry["pid"], signal.SIGKILL)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def start_run(*modes: str) -> Run:
        runs.append(Run(tmp_path, *modes))
        return runs[-1]

    yield start_run
    for run in runs:
        run.end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_parts_start_and_stop_in_order(start: Callable[..., Run], number: signal.Signals) -> None:
    run = start()
    run.read_until("all ready")
    run.send(number)
    assert run.exit_code() == 0
    started, stopped = run.journal[:5], run.journal[5:]
    assert started[0] == "store started"
    assert sorted(started[1:3]) == ["step started", "upstream started"]
    assert sorted(stopped[:2]) == ["web stopped", "worker stopped"]
    assert stopped[2:] == ["upstream stopped", "store stopped"]
    assert list((run.folder / "run").glob("*.json")) == []


def test_a_line_for_each_step_its_time_and_what_is_worth_reading(
    start: Callable[..., Run],
) -> None:
    run = start()
    run.read_until("local     | all ready\n")
    if "of=web" not in run.output:
        run.read_until("of=web")
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0
    lines = [re.sub(r"\d+\.\d s", "N s", line) for line in run.output.splitlines()]
    steps = [line.partition("| ")[2] for line in lines if line.startswith("local")]
    assert steps[:2] == ["leftovers: []", "ready: store (N s)"]
    assert sorted(steps[2:4]) == ["done: step (N s)", "ready: upstream (N s)"]
    assert sorted(steps[4:6]) == ["ready: web (N s)", "ready: worker (N s)"]
    assert steps[6:8] == ["all ready", "stopping worker, web"]
    assert "step      | step speaks" in lines
    assert "web       | warning store.slow of=web" in lines
    assert "speaks" not in "".join(line for line in lines if not line.startswith("step"))
    assert "store     |" not in run.output
    assert (run.folder / "web.log").read_text().startswith("web speaks\n2026-01-01T")


def test_a_part_goes_on_in_its_log_and_the_run_before_is_kept(start: Callable[..., Run]) -> None:
    run = start("recovered=0")
    run.read_until("all ready")
    run.kill("web")
    run.read_until("ready: web")
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0
    assert (run.folder / "web.log").read_text().count("web speaks") == 2
    again = start()
    again.read_until("all ready")
    assert (run.folder / "web.log").read_text().count("web speaks") == 1
    assert (run.folder / "web.log.1").read_text().count("web speaks") == 2


def test_a_second_signal_hastens(start: Callable[..., Run]) -> None:
    run = start("web=stubborn")
    run.read_until("all ready")
    run.send(signal.SIGINT)
    run.read_until("stopping worker, web")
    run.read_until("waiting for guests; Ctrl-C again ends them now")
    run.send(signal.SIGINT)
    assert run.exit_code() == 0
    assert "web did not stop cleanly (-9)" in run.output
    assert run.journal[-1] == "store stopped"


def test_nothing_is_said_to_be_waited_for_where_all_end_at_once(start: Callable[..., Run]) -> None:
    run = start()
    run.read_until("all ready")
    run.send(signal.SIGINT)
    assert run.exit_code() == 0
    assert "waiting" not in run.output


def test_a_part_that_dies_is_named_and_started_again(start: Callable[..., Run]) -> None:
    run = start("worker=dies-once")
    run.read_until("ready: worker")
    said = run.read_until("worker ended unexpectedly (exit 3); it is started again in 0 s.")
    assert said.endswith(f"Its log: {run.folder / 'worker.log'}\n")
    run.read_until("ready: worker")
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0
    assert run.journal.count("worker started") == 2


def test_a_part_that_keeps_dying_stops_everything(start: Callable[..., Run]) -> None:
    run = start("web=dies")
    assert run.exit_code() == 1
    assert "store stopped" in run.journal
    assert run.journal.count("web started") <= 4


def test_three_restarts_without_recovery_are_all(start: Callable[..., Run]) -> None:
    run = start("web=tires")
    assert run.exit_code() == 1
    assert "It was started again 3 times. Stopping all." in run.output
    assert run.journal.count("web started") == 4


@pytest.mark.parametrize("mode", ["tires", "dies"])
def test_a_part_that_can_be_missed_is_given_up_alone(start: Callable[..., Run], mode: str) -> None:
    """Whether it dies once all are ready, or never gets there."""
    run = start(f"worker={mode}")
    said = run.read_until("is given up")
    assert "3 times, and worker is given up. Jobs wait. Everything else goes on." in said
    assert f"Its log: {run.folder / 'worker.log'}" in said
    run.kill("web")
    run.read_until("ready: web")
    assert "all ready" in run.output
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0
    assert run.journal.count("worker started") == 4
    assert run.journal[-1] == "store stopped"


def test_all_others_serve_while_a_part_of_the_first_steps_is_started_again(
    start: Callable[..., Run],
) -> None:
    run = start("upstream=dies-once")
    run.read_until("ready: upstream")
    run.read_until("all ready")
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0


def test_the_restarts_of_a_part_that_recovered_are_forgotten(start: Callable[..., Run]) -> None:
    run = start("worker=tires", "recovered=0")
    for _ in range(6):
        run.read_until("ready: worker")
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0


def test_a_part_that_needs_another_which_died_too_is_ready_when_that_is(
    start: Callable[..., Run],
) -> None:
    run = start("recovered=0")
    run.read_until("all ready")
    # Started again, the store stands behind the worker in whatever list there is.
    run.kill("store")
    run.read_until("ready: store")
    run.kill("worker", "store")
    ready = sorted(run.read_until("ready: ").split("ready: ")[1][:5] for _ in range(2))
    assert ready == ["store", "worke"]
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0
    assert run.journal[-1] == "store stopped"


def test_each_pair_of_parts_that_dies_is_started_again(start: Callable[..., Run]) -> None:
    run = start("recovered=0")
    run.read_until("all ready")
    for pair in combinations(("store", "upstream", "worker", "web"), 2):
        run.kill(*pair)
        for _ in pair:
            run.read_until("ready: ")
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0
    assert all(run.journal.count(f"{part} started") == 4 for part in ("store", "worker", "web"))


def test_a_step_that_fails_stops_everything(start: Callable[..., Run]) -> None:
    run = start("step=dies")
    assert run.exit_code() == 1
    assert "web started" not in run.journal
    assert run.journal[-1] == "store stopped"


def test_a_step_that_can_be_missed_fails_in_one_line_and_is_not_done_again(
    start: Callable[..., Run],
) -> None:
    run = start("step=fails")
    run.read_until("all ready")
    run.send(signal.SIGTERM)
    assert run.exit_code() == 0
    [said] = [line for line in run.output.splitlines() if "failed" in line]
    log = run.folder / "step.log"
    why = "failed: step. No wind. Nothing sails. Everything else goes on."
    assert said == f"local     | {why} Its log: {log}"
    assert run.journal.count("step started") == 1


def test_what_a_killed_supervisor_left_is_ended_and_only_that(start: Callable[..., Run]) -> None:
    killed = start()
    killed.read_until("all ready")
    pids = [killed.pid_of(name) for name in ("store", "upstream", "worker", "web")]
    killed.send(signal.SIGKILL)
    killed.exit_code()
    assert all(command_of(pid) for pid in pids)
    # A pid that another program has by now: this test's own.
    stranger = json.dumps({"pid": os.getpid(), "command": ["python", "web"], "stop": 15})
    (killed.folder / "run" / "stranger.json").write_text(stranger)

    again = start()
    again.read_until("all ready")
    assert "leftovers: ['store', 'upstream', 'web', 'worker']" in again.output
    assert not any(command_of(pid) for pid in pids)


def test_a_second_supervisor_in_the_same_folder_is_refused(start: Callable[..., Run]) -> None:
    first = start()
    first.read_until("all ready")
    second = start()
    assert second.exit_code() == 1
    assert "Another `make run` works in" in second.output
    first.send(signal.SIGTERM)
    assert first.exit_code() == 0
