"""A running reply, on the event loop of the web process that took the request."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ai.generations.running import StreamedCall
from ai.generations.types import Piece, pieces_of
from ai.inference.chat import ChatRunner
from ai.providers.types import Delta
from common.errors import DomainError
from conversations import events
from conversations.services.completion import REPLY
from conversations.services.sending import StartedReply
from conversations.titles import make_title
from events.types import NewEvent

# Seconds that the end waits for the title.
TITLE_TIMEOUT = 2.0


class Reply(StreamedCall[dict[str, Any], Piece]):
    """The call of a reply, and the call for the title of a conversation that the reply begins."""

    is_followed = True

    def __init__(self, started: StartedReply) -> None:
        super().__init__(REPLY, started.job, started.call, stream_id=started.reply.pk)
        self.started = started
        self.title: str | None = None
        self._titling: asyncio.Task[None] | None = None

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            if self._titling is not None:
                # The call and the appending continue.
                self._titling.cancel()

    def delta_events(self, pieces: Sequence[Piece], offset: int) -> list[NewEvent]:
        return events.deltas(self.started.call.model.id, pieces, offset)

    def shown(self, fresh: list[Delta]) -> list[Piece]:
        return pieces_of(fresh)

    def on_opened(self, runner: ChatRunner) -> None:
        if self.started.is_first:
            self._titling = asyncio.create_task(self._make_title(runner))

    async def before_end(self, failure: DomainError | None) -> None:
        has_text = self.runner is not None and self.runner.events
        if self._titling is not None and has_text and failure is None:
            await asyncio.wait([self._titling], timeout=TITLE_TIMEOUT)

    async def _make_title(self, runner: ChatRunner) -> None:
        """Make a title once there is some output, so that no title is made for a reply without a
        bill."""
        with suppress(DomainError):
            await runner.started()
        if not runner.events:
            return
        started = self.started
        self.title = await make_title(
            account_id=started.call.account_id,
            question_id=started.question.pk,
            message=started.question.content,
            request_id=started.call.request_id,
        )
        if self.title is not None:
            await self.append(runner, [events.title(self.title)])
