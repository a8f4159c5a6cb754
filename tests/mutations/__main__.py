"""`python -m tests.mutations`: does a test fail for each mutation?

Each is applied alone to a copy of the tree, where its tests run. It is killed where one of them
fails, and survives where all pass; an error before the tests, such as a module that cannot be
imported, kills nothing. The exit code is 1 unless all are killed.
"""

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from devserver.paths import ROOT
from tests.mutations.mutation import Mutation, mutations

KILLED, SURVIVED = "killed", "SURVIVED"
# pytest's exit codes.
_OUTCOMES = {0: SURVIVED, 1: KILLED}
_OPTIONS = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "--timeout=300")
_TIMEOUT = 900


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--area", help="such as money: the name of a file in tests/mutations")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--matching", default="", help="those whose description has this text")
    options = parser.parse_args()
    chosen = [each for each in mutations(options.area) if options.matching in each.breaks]
    outcomes: Counter[str] = Counter()
    with ExitStack() as stack:
        trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for _ in range(options.jobs):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mutations-"))
            trees.put(_copy(Path(folder)))
        threads = stack.enter_context(ThreadPoolExecutor(options.jobs))
        tried = threads.map(lambda mutation: _try(mutation, trees), chosen)
        for number, (mutation, (outcome, seconds, output)) in enumerate(
            zip(chosen, tried, strict=True), start=1
        ):
            outcomes[outcome] += 1
            _say(
                f"{number:3} of {len(chosen)}  {outcome:8} {seconds:4.0f} s  {mutation.area}:"
                f" {mutation.breaks}"
            )
            if outcome != KILLED:
                _say(output)
    _say(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    return int(set(outcomes) != {KILLED})


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _copy(folder: Path) -> Path:
    """The files that git knows, as they are now."""
    listed = subprocess.run(
        ("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def _try(mutation: Mutation, trees: "queue.SimpleQueue[Path]") -> tuple[str, float, str]:
    """The outcome, the seconds it took, and the end of what the tests printed."""
    tree, began = trees.get(), time.monotonic()
    before = mutation.apply(tree)
    try:
        done = subprocess.run(
            (sys.executable, "-m", "pytest", *_OPTIONS, *mutation.killed_by),
            cwd=tree,
            env={**os.environ, "PYTHONPATH": f"{tree}:{tree}/platform:{tree}/tools"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    finally:
        (tree / mutation.file).write_text(before)
        trees.put(tree)
    outcome = _OUTCOMES.get(done.returncode, f"ERROR {done.returncode}")
    return outcome, time.monotonic() - began, done.stdout[-2_000:]


if __name__ == "__main__":
    sys.exit(main())
