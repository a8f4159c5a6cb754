"""The meter of one call: what has come out so far, and what that costs."""

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
    """Counts a call's output as it comes; the provider's own usage, where it comes, wins.

    Without it the input is `estimated_input`, an estimate and never the bound of the hold. The
    output of a stream is the number of its deltas, for each holds at least one token; that of an
    answer which comes whole is estimated by its length. More than the hold was for is never billed:
    whoever named a bound was promised it, and no prompt is more tokens than bytes.
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
        """Count a batch. Returns what the reader shall see of it: the deltas that are not empty."""
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
        """Is there anything to bill? Text, reasoning, or a clean finish with usage."""
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
        """Has the provider counted all that came?"""
        return self._reported is not None and self._reported.output_tokens >= self.deltas

    @property
    def counts_nothing(self) -> bool:
        """Does the provider say that what came is no output at all?"""
        return self.deltas > 0 and self._reported is not None and not self._reported.output_tokens

    @property
    def _counted(self) -> Usage:
        reported = self._reported
        if reported is None:
            return Usage(self._estimated_input, max(self.deltas, self._text))
        if self.finish_reason is None and reported.output_tokens < self.deltas:
            # The provider had not come to count the last of it.
            return replace(reported, output_tokens=self.deltas)
        return reported

    @property
    def cost(self) -> int:
        """Nano-USD, at cost."""
        usage = self.usage
        return token_cost(self._price, usage.input_tokens, usage.output_tokens)
