"""Carries out a council's calls, on the worker's event loop."""

from collections.abc import Sequence

from msgspec.structs import replace

from ai.generations.endings import give_up
from ai.generations.running import LostCallHandler, StreamedCall, persist
from ai.generations.types import TOTAL_SECONDS, Completion, Piece
from ai.inference.types import ChatCall
from ai.providers.types import Delta, TextDelta
from common.errors import DomainError
from council import events, sections
from council.services.completion import CARD, Prepared, prepare, revised
from events.types import NewEvent
from work.jobs.handlers import Handler
from work.jobs.running import RunningJob


class GenerationHandler(LostCallHandler, Handler):
    """Does the jobs of kind `council.generation`."""

    def __init__(self) -> None:
        super().__init__(CARD)

    async def run(self, job: RunningJob) -> None:
        """Make the call, unless it must not be made any more."""
        try:
            prepared = await persist(prepare, job_id=job.id, attempt=job.attempt)
        except DomainError as failure:
            await persist(give_up, CARD, call_id=job.id, attempt=job.attempt, failure=failure)
            return
        if prepared is not None:
            await CardCall(job, prepared).run()


class CardCall(StreamedCall[None, Piece]):
    """The call of a card's version. Its reasoning is not shown; in a debate neither are the notes
    that come before the revised answer."""

    def __init__(self, job: RunningJob, prepared: Prepared) -> None:
        call = ChatCall(
            account_id=job.account_id,
            api_key_id=None,
            source="job",
            model=prepared.model,
            messages=prepared.messages,
            stream=True,
            request_id=prepared.version.generation.turn.request_id or str(job.id),
            total_seconds=TOTAL_SECONDS,
            charge_id=job.id,
        )
        super().__init__(CARD, job, call, stream_id=prepared.version.generation.session_id)
        self._version = prepared.version
        self._before = prepared.before
        self._text = ""
        self._shown = 0  # code points of the answer

    def delta_events(self, pieces: Sequence[Piece], offset: int) -> list[NewEvent]:
        return events.deltas(self._version, self._version.generation.model, pieces, offset)

    def shown(self, fresh: list[Delta]) -> list[Piece]:
        text = "".join(delta.text for delta in fresh if isinstance(delta, TextDelta))
        if text and self._before is not None:
            self._text += text
            answer = sections.answer_so_far(self._text)
            text, self._shown = answer[self._shown :], len(answer)
        return [Piece("text", text)] if text else []

    def completion(self, failure: DomainError | None) -> Completion:
        """In a debate, that of the answer which stands after the round."""
        whole = super().completion(failure)
        if self._before is None or self.runner is None:
            return whole
        answer = revised(whole, self._before)
        unsent = Piece("text", answer.content[self._offset :])
        return replace(answer, unsent=self.delta_events([unsent], self._offset))
