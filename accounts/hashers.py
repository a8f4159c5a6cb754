"""Password hashing with a bound on memory and cores."""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import ParamSpec, TypeVar

from django.contrib.auth.hashers import Argon2PasswordHasher

from common.errors import ServiceUnavailable
from server.hash_turns import Lane
from server.sign_in_queue import hashing_lane

P = ParamSpec("P")
T = TypeVar("T")

# In each lane (platform/server/hash_turns.py). One hash takes 100 MB, and this many threads. With
# more hashes than cores for their threads, none ends sooner and all end later.
AT_ONCE = max(1, (os.cpu_count() or 1) // Argon2PasswordHasher.parallelism)
WAIT_SECONDS = 5.0
# Hashing threads of the first lane (nice(1)): requests and the event loop run before them. Argon2
# splits a hash among eight threads: at 10 they weigh about as much together as one event loop.
_NICENESS = 10


class BoundedArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2, at most AT_ONCE hashes of each lane at a time in this process, in threads of low
    priority.

    Raises ServiceUnavailable where a hash cannot start within WAIT_SECONDS.
    """

    def encode(self, password: str, salt: str) -> str:
        return _in_turn(super().encode, password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        return _in_turn(super().verify, password, encoded)


def _in_turn(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    hashing = _threads[hashing_lane.get()].submit(work, *args, **kwargs)
    try:
        return hashing.result(timeout=WAIT_SECONDS)
    except TimeoutError:
        if hashing.cancel():
            raise ServiceUnavailable(
                "Too many people sign in just now. Try again in a moment.", retry_after=5
            ) from None
        return hashing.result()  # it had begun


def _lower_priority(lane: Lane) -> None:
    """Lower the priority of this thread; the threads that Argon2 starts inherit it (on Linux, where
    the system allows it). A hash of the last lane runs when nothing else wants the core (SCHED_IDLE
    in sched(7)): one of the first has 37 times its weight, and whatever wakes up interrupts it."""
    if sys.platform != "linux":
        return
    thread = threading.get_native_id()
    with suppress(PermissionError):
        if lane is Lane.FIRST:
            os.setpriority(os.PRIO_PROCESS, thread, _NICENESS)
        else:
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))


_threads = {
    lane: ThreadPoolExecutor(AT_ONCE, f"hashing-{lane}", initializer=partial(_lower_priority, lane))
    for lane in Lane
}
