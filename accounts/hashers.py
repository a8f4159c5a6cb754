"""Password hashing that strangers cannot make the server choke on."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import Argon2PasswordHasher

from common.errors import ServiceUnavailable

# One hash takes 100 MB and all of a core for a while; more at once would only take longer.
AT_ONCE = os.cpu_count() or 1
WAIT_SECONDS = 5.0

_turns = threading.BoundedSemaphore(AT_ONCE)


class BoundedArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2, as many at once in this process as there are cores.

    Raises ServiceUnavailable where the turn does not come within WAIT_SECONDS.
    """

    def encode(self, password: str, salt: str) -> str:
        with _turn():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _turn():
            return super().verify(password, encoded)


@contextmanager
def _turn() -> Iterator[None]:
    if not _turns.acquire(timeout=WAIT_SECONDS):
        raise ServiceUnavailable("Too many people sign in just now. Try again in a moment.")
    try:
        yield
    finally:
        _turns.release()
