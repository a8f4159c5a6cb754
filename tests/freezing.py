"""Stops a process by a signal, with all of its threads."""

import os
import signal
import time
from contextlib import suppress

import psutil


def freeze(pid: int) -> None:
    """Stop a process until it gets SIGCONT. When this returns, none of its threads runs any more:
    the signal takes effect once a thread gets a core, and on a busy machine the others go on."""
    os.kill(pid, signal.SIGSTOP)
    while not _is_frozen(pid):
        time.sleep(0.001)


def _is_frozen(pid: int) -> bool:
    threads = psutil.Process(pid).threads()
    with suppress(psutil.NoSuchProcess):  # a thread may end while it is looked at
        states = [psutil.Process(thread.id).status() for thread in threads]
        return set(states) == {psutil.STATUS_STOPPED}
    return False
