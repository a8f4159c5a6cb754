"""The latest events of one stream, read once for all sockets of a process that follow it."""

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING
from uuid import UUID

from events.metrics import written_at
from events.types import Frame

if TYPE_CHECKING:
    from events.follower import Follower

# Bytes that are kept of the events before the last page, for followers that are a little behind.
KEPT_BYTES = 32 * 1024


class Feed:
    """`seq` is the last event that was read. A feed exists as long as somebody follows it."""

    def __init__(self, stream_id: UUID, seq: int) -> None:
        self.stream_id = stream_id
        self.seq = seq
        # When the last event was written, of those that were read since the feed exists.
        self.written_at: float | None = None
        self.followers: set[Follower] = set()
        # Without gaps, up to `seq`.
        self._frames: deque[Frame] = deque()
        self._size = 0

    def add(self, page: Sequence[Frame]) -> None:
        """Append the next events."""
        self._frames.extend(page)
        self._size += sum(len(frame.text) for frame in page)
        while self._size > KEPT_BYTES and len(self._frames) > len(page):
            self._size -= len(self._frames.popleft().text)
        self.seq = page[-1].seq
        self.written_at = written_at(page[-1])

    def after(self, seq: int) -> list[Frame] | None:
        """The events after `seq` that were read; None where some of them are not kept."""
        missing = self.seq - seq
        if missing > len(self._frames):
            return None
        return list(islice(self._frames, len(self._frames) - missing, None)) if missing > 0 else []

    def end(self, code: int) -> None:
        """Close the sockets of all followers."""
        for follower in self.followers:
            follower.end(code)

    def forget(self) -> None:
        """Drop the frames: all followers have them."""
        self._frames.clear()
        self._size = 0
