"""How long something takes on a machine that may be busy, or stand still for a moment."""

import time
from threading import Event, Thread
from typing import Self

TICK = 0.01


class Stopwatch:
    """The `seconds` since its block began, until it ended, without those that were `lost`: those by
    which a thread that does nothing but sleep woke up too late.

    So a bound holds for what is measured, and not for whatever else the machine does.
    """

    def __init__(self) -> None:
        self._over = Event()
        self._late = 0.0
        self._began = self._due = time.monotonic()
        self._ended: float | None = None
        self._sleeper = Thread(target=self._sleep, name="stopwatch", daemon=True)

    def __enter__(self) -> Self:
        self._began = self._due = time.monotonic()
        self._sleeper.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._ended = time.monotonic()
        self._over.set()
        self._sleeper.join()

    @property
    def seconds(self) -> float:
        return self._now() - self._began - self.lost

    @property
    def lost(self) -> float:
        return self._late + self._oversleeping()

    def _sleep(self) -> None:
        while not self._over.is_set():
            self._due = time.monotonic() + TICK
            self._over.wait(TICK)
            self._late += self._oversleeping()
            self._due = float("inf")

    def _oversleeping(self) -> float:
        return max(0.0, self._now() - self._due)

    def _now(self) -> float:
        return time.monotonic() if self._ended is None else self._ended
