"""The doorbell: who follows a stream is told, through Redis, that there is something to read.

It carries no event. A ring that is lost costs its listeners the seconds until they look again.
"""

from uuid import UUID


def ring(stream_id: UUID) -> None:
    """Tell all processes that the stream has grown. Never raises, and never waits long."""
