"""An embeddings call: all its vectors or none, billed by the tokens of its input."""

from typing import cast
from uuid import UUID

from ai.catalog.pricing import token_cost
from ai.catalog.types import TokenPrice
from ai.inference.runner import CallRunner
from ai.inference.types import EmbeddingAnswer, EmbeddingCall
from ai.provider_health.permit import Permit
from ai.providers.token_estimate import estimate_text
from ai.providers.types import Deadlines, EmbeddingRequest, EmbeddingWire
from billing.types import Ending


class EmbeddingRunner(CallRunner[EmbeddingCall, EmbeddingAnswer]):
    """Runs one embeddings call."""

    answer_type = EmbeddingAnswer

    def __init__(
        self, call: EmbeddingCall, wire: EmbeddingWire, permit: Permit, owner_id: UUID
    ) -> None:
        super().__init__(call, permit, owner_id)
        self._wire = wire
        self._price = cast(TokenPrice, call.model.price)
        self._result: EmbeddingAnswer | None = None

    async def _call_provider(self, seconds: float) -> None:
        call = self.call
        request = EmbeddingRequest(call.model.upstream_model, call.inputs, call.dimensions)
        embeddings = await self._wire.embed(request, Deadlines(total=seconds))
        # A provider that counts nothing has not counted: no input is empty.
        estimated = (estimate_text(text) for text in call.inputs)
        tokens = embeddings.input_tokens or sum(estimated)
        # No more is billed than was held.
        self._result = EmbeddingAnswer(embeddings.vectors, min(tokens, call.input_bound))

    def _outcome(self) -> tuple[EmbeddingAnswer, Ending] | None:
        if self._result is None:
            return None
        tokens = self._result.input_tokens
        cost = token_cost(self._price, tokens, 0)
        return self._result, self._settlement(cost, {"tokens_in": tokens})
