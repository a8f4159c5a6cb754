"""The load of other programs on the machine during a measurement, which makes figures
unreliable."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


@contextmanager
def reported(what: str) -> Iterator[None]:
    """Print, when the block ends, how many cores other programs used in the block. Servers under
    measurement must live longer than the block."""
    started, all_started, own_started = time.monotonic(), _all_processes(), _own_processes()
    yield
    others = (_all_processes() - all_started) - (_own_processes() - own_started)
    cores = max(0.0, others / (time.monotonic() - started))
    print(f"Other programs used {cores:.1f} of {os.cpu_count()} cores during {what}.", flush=True)


def _all_processes() -> float:
    """CPU seconds of all processes since boot, without idle and wait times."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def _own_processes() -> float:
    """CPU seconds of this process and its descendants, including ended ones."""
    total = 0.0
    for process in (me := psutil.Process(), *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
