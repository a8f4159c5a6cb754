"""A supervisor over small stand-in programs: `python -m tests.tiny_parts FOLDER [PART=MODE...]`.

Each part appends its start and its orderly end to FOLDER/journal. Modes: `stubborn` ignores the
stop signal, `dies` ends before it is ready, `tires` soon after, `dies-once` only the first time;
`fails` says why it ends.
With `recovered=SECONDS` its restarts are forgotten so early. `worker` is ready while `store` runs.
What `web` finishes is called guests. `worker`, `upstream` and what fails can be missed.
"""

import json
import sys
from functools import partial
from pathlib import Path

from devserver import supervisor
from devserver.console import Console
from devserver.errors import LocalError
from devserver.processes import command_of
from devserver.records import Records
from devserver.service import Service

START_ORDER = (("store",), ("step", "upstream"), ("worker", "web"))
STOP_ORDER = (("worker", "web"), ("step", "upstream"), ("store",))
PROGRAM = """
import os, signal, sys, time
journal, name, mode = sys.argv[1:]
def write(word):
    with open(journal, "a") as file:
        file.write(f"{name} {word}\\n")
def leave(*_):
    write("stopped")
    os._exit(0)
again = os.path.exists(journal) and f"{name} started" in open(journal).read()
signal.signal(signal.SIGTERM, signal.SIG_IGN if mode == "stubborn" else leave)
write("started")
print(f"{name} speaks", flush=True)
print("2026-01-01T00:00:00.000000Z [warning  ] store.slow    [a.logger] of=" + name, flush=True)
with open(os.path.join(os.path.dirname(journal), name + ".pid"), "w") as file:
    file.write(str(os.getpid()))
if mode == "fails":
    print("No wind.", flush=True)
if mode in ("dies", "fails"):
    sys.exit(3)
if mode == "tires" or (mode == "dies-once" and not again):
    time.sleep(0.5)
    sys.exit(3)
while mode != "once":
    time.sleep(60)
"""


def service(folder: Path, name: str, mode: str) -> Service:
    journal = folder / "journal"
    without = {"worker": "Jobs wait.", "upstream": "Nobody answers."}
    return Service(
        name=name,
        command=(sys.executable, "-ISc", PROGRAM, str(journal), name, mode),
        is_ready=lambda: speaks(folder, name) and (name != "worker" or runs(folder)),
        runs_once=name == "step",
        must_finish=name == "store",
        without="Nothing sails." if mode == "fails" else without.get(name, ""),
        shows="all" if name == "step" else "nothing" if name == "store" else "notable",
        finishes="guests" if name == "web" else "",
        grace=60,
    )


def speaks(folder: Path, name: str) -> bool:
    """Has the part got so far, since it was started last?"""
    said, record = folder / f"{name}.pid", folder / "run" / f"{name}.json"
    pid = json.loads(record.read_text())["pid"]
    return said.exists() and said.read_text() == str(pid)


def runs(folder: Path) -> bool:
    """Does the store?"""
    record = folder / "run" / "store.json"
    return record.exists() and bool(command_of(json.loads(record.read_text())["pid"]))


def main() -> int:
    folder = Path(sys.argv[1])
    modes = {"step": "once", **dict(argument.split("=") for argument in sys.argv[2:])}
    names = [name for stage in START_ORDER for name in stage]
    supervisor.FIRST_PAUSE = 0.01
    supervisor.RECOVERED_SECONDS = int(modes.pop("recovered", supervisor.RECOVERED_SECONDS))
    console = Console()
    records = Records(folder / "run")
    try:
        records.lock()
    except LocalError as error:
        console.say(str(error))
        return 1
    console.say(f"leftovers: {sorted(records.end_leftovers())}")
    return supervisor.Supervisor(
        {name: partial(service, folder, name, modes.get(name, "")) for name in names},
        start_order=START_ORDER,
        stop_order=STOP_ORDER,
        console=console,
        records=records,
        logs=folder,
    ).run(when_ready=lambda: console.say("all ready"))


if __name__ == "__main__":
    sys.exit(main())
