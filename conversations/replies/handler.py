"""Ends replies that nobody writes any more."""

from uuid import UUID

from conversations.services import outcomes
from inference.errors import CallInterrupted


class LostReplyHandler:
    """Of jobs of kind `conversations.reply`, which begin in a web process and run there."""

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        """End the reply as interrupted, at what its log has."""
        outcomes.give_up(reply_id=job_id, attempt=attempt, failure=CallInterrupted())
