"""A speech call: audio transcribed, and billed by the seconds that we measure."""

from uuid import UUID

from ai.inference.runner import CallRunner
from ai.inference.types import SpeechAnswer, SpeechCall
from ai.provider_health.permit import Permit
from ai.providers.types import Deadlines, SpeechRequest, SpeechWire, Transcript
from billing.types import Ending
from common.errors import ServiceUnavailable
from common.memory_budget import MemoryBudget

# Bytes that the calls of one process keep in memory: the audio, and the request body with it.
MAX_MEMORY = 512 * 1024 * 1024
_COPIES = 2

_memory = MemoryBudget(MAX_MEMORY)


class SpeechRunner(CallRunner[SpeechCall, SpeechAnswer]):
    """Runs one speech call."""

    answer_type = SpeechAnswer

    def __init__(self, call: SpeechCall, wire: SpeechWire, permit: Permit, owner_id: UUID) -> None:
        super().__init__(call, permit, owner_id)
        self._wire = wire
        self._transcript: Transcript | None = None

    async def _run(self) -> None:
        """Run the call if there is memory for the audio."""
        with _memory.share() as share:
            try:
                share.reserve(_COPIES * len(self.call.audio))
            except ServiceUnavailable as refusal:
                self.refuse(refusal)
                return
            await super()._run()

    async def _call_provider(self, seconds: float) -> None:
        call = self.call
        request = SpeechRequest(call.model.upstream_model, call.audio, call.format, call.language)
        self._transcript = await self._wire.transcribe(request, Deadlines(total=seconds))

    def _outcome(self) -> tuple[SpeechAnswer, Ending] | None:
        heard = self._transcript
        if heard is None:
            return None
        call = self.call
        ending = self._settlement(call.worst_cost, {"seconds": call.billed_seconds})
        return SpeechAnswer(heard.text, heard.language, call.duration), ending
