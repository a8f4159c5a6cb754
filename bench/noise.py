"""How much the rest of the machine did while we measured: figures taken in noise mean little."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


@contextmanager
def told(what: str) -> Iterator[None]:
    """Print, when the block ends, how many cores other programs used meanwhile. Servers under
    measurement must live longer than the block."""
    started, everybody, ours = time.monotonic(), _everybody(), _ours()
    yield
    others = (_everybody() - everybody) - (_ours() - ours)
    cores = max(0.0, others / (time.monotonic() - started))
    print(f"Other programs used {cores:.1f} of {os.cpu_count()} cores during {what}.", flush=True)


def _everybody() -> float:
    """Processor seconds since boot, idling and waiting left out."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def _ours() -> float:
    """Processor seconds of this process and all below it, those that have ended included."""
    total = 0.0
    for process in (me := psutil.Process(), *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
