"""Password hashing with a bound on memory and cores."""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.contrib.auth.hashers import Argon2PasswordHasher

from common.errors import ServiceUnavailable

P = ParamSpec("P")
T = TypeVar("T")

# One hash takes 100 MB, and this many threads. With more hashes than cores for their threads, none
# ends sooner and all end later.
AT_ONCE = max(1, (os.cpu_count() or 1) // Argon2PasswordHasher.parallelism)
WAIT_SECONDS = 5.0
# Priority of hashing threads (nice(1)), so that requests and the event loop run before them.
_NICENESS = 5


class BoundedArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2, at most AT_ONCE hashes at a time in this process, in threads of low priority.

    Raises ServiceUnavailable where a hash cannot start within WAIT_SECONDS.
    """

    def encode(self, password: str, salt: str) -> str:
        return _in_turn(super().encode, password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        return _in_turn(super().verify, password, encoded)


def _in_turn(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    hashing = _threads.submit(work, *args, **kwargs)
    try:
        return hashing.result(timeout=WAIT_SECONDS)
    except TimeoutError:
        if hashing.cancel():
            raise ServiceUnavailable(
                "Too many people sign in just now. Try again in a moment.", retry_after=5
            ) from None
        return hashing.result()  # it had begun


def _lower_priority() -> None:
    """Lower the priority of this thread; the threads that Argon2 starts inherit it (on Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


_threads = ThreadPoolExecutor(AT_ONCE, "hashing", initializer=_lower_priority)
