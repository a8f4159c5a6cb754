"""The meter of one call: its output so far, and the cost."""

from msgspec.structs import replace

from catalog.pricing import token_cost
from catalog.types import TokenPrice
from providers.tokens import estimate_text
from providers.types import (
    ChatEvent,
    Delta,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    Usage,
)


class Meter:
    """Counts the output of a call. The provider's own usage, where the provider sends it, replaces
    the count.

    Without the provider's usage the input is `estimated_input`, an estimate and never the bound of
    the hold. The output of a stream is then the number of its deltas, because each delta has at
    least one token; the output of an answer that comes whole is estimated from its length. More
    than the hold is never billed: a caller who named a bound was promised that bound, and no prompt
    has more tokens than bytes.
    """

    def __init__(
        self,
        price: TokenPrice,
        estimated_input: int,
        input_bound: int,
        output_bound: int,
        *,
        streamed: bool,
    ) -> None:
        self._streamed = streamed
        self._text = 0
        self._price = price
        self._estimated_input = estimated_input
        self._input_bound = input_bound
        self._output_bound = output_bound
        self._reported: Usage | None = None
        self.deltas = 0
        self.finish_reason: FinishReason | None = None

    def take(self, batch: list[ChatEvent]) -> list[Delta]:
        """Count a batch. Returns the deltas that the reader sees: those that are not empty."""
        deltas: list[Delta] = []
        for event in batch:
            if isinstance(event, TextDelta | ReasoningDelta):
                if event.text:
                    deltas.append(event)
                    self._text += 0 if self._streamed else estimate_text(event.text)
            elif isinstance(event, Usage):
                self._reported = event
            else:
                self.finish_reason = event.reason
        self.deltas += len(deltas)
        return deltas

    @property
    def has_output(self) -> bool:
        """Whether there is anything to bill: text, reasoning, or a clean finish with usage."""
        return self.deltas > 0 or (self.finish_reason is not None and self._reported is not None)

    @property
    def usage(self) -> Usage:
        """The tokens that are billed."""
        usage = self._counted
        if usage.input_tokens <= self._input_bound and usage.output_tokens <= self._output_bound:
            return usage
        return Usage(
            min(usage.input_tokens, self._input_bound),
            min(usage.output_tokens, self._output_bound),
            min(usage.cached_tokens, self._input_bound),
            min(usage.reasoning_tokens, self._output_bound),
        )

    @property
    def is_counted(self) -> bool:
        """Whether the provider has counted all of the output."""
        return self._reported is not None and self._reported.output_tokens >= self.deltas

    @property
    def counts_nothing(self) -> bool:
        """Whether the provider reports that there is no output at all."""
        return self.deltas > 0 and self._reported is not None and not self._reported.output_tokens

    @property
    def _counted(self) -> Usage:
        reported = self._reported
        if reported is None:
            return Usage(self._estimated_input, max(self.deltas, self._text))
        if self.finish_reason is None and reported.output_tokens < self.deltas:
            # The provider had not yet counted the last part of the output.
            return replace(reported, output_tokens=self.deltas)
        return reported

    @property
    def cost(self) -> int:
        """Nano-USD, at cost."""
        usage = self.usage
        return token_cost(self._price, usage.input_tokens, usage.output_tokens, usage.cached_tokens)
