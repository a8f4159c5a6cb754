"""The meter of one call: its output so far, and the cost."""

from collections.abc import Callable

from ai.catalog.pricing import token_cost
from ai.catalog.types import TokenPrice
from ai.providers.token_estimate import GrowingText
from ai.providers.types import (
    ChatEvent,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    ToolCallDelta,
    Usage,
)

_NOTHING = Usage(0, 0)
# The longest tokens of the tokenizers in use have 128 characters, all of them spaces (OpenAI's
# o200k). A longer answer ignores its bound.
_CHARACTERS_PER_TOKEN = 128
_CHARACTERS_OF_SLACK = 4_000


class Meter:
    """Counts a call. What the provider counts is billed; what it does not count is estimated.

    `estimate_input` estimates the input; it is never taken from the bound of the hold. Output is
    estimated from its text, tool calls among it, and is at least one token for each delta. A
    provider counts output up to the place of its count: of an answer without an end, what came
    later is estimated. A count of zero counts nothing where there is something to count. More than
    the hold is never billed: a caller who named a bound was promised that bound, and no prompt has
    more tokens than bytes.
    """

    def __init__(
        self,
        price: TokenPrice,
        estimate_input: Callable[[], int],
        input_bound: int,
        output_bound: int,
    ) -> None:
        self._price = price
        self._estimate_input = estimate_input
        self._input_bound = input_bound
        self._output_bound = output_bound
        self._most_characters = _CHARACTERS_PER_TOKEN * output_bound + _CHARACTERS_OF_SLACK
        self._reported: Usage | None = None
        # What came since the provider has last counted output.
        self._text = GrowingText()
        self._reasoning = GrowingText()
        self._characters = 0
        self.is_cut = False
        self.deltas = 0
        self.finish_reason: FinishReason | None = None

    def take(self, batch: list[ChatEvent]) -> list[Delta]:
        """Count a batch. Returns the deltas that the reader sees: those that are not empty, and of
        an answer that overruns its bound those until then (`is_cut`)."""
        deltas: list[Delta] = []
        for event in batch:
            if isinstance(event, Usage):
                self._note(event)
            elif isinstance(event, Finish):
                self.finish_reason = event.reason
            elif self._characters > self._most_characters:
                self.is_cut = True
            elif text := written(event):
                deltas.append(event)
                self._characters += len(text)
                shown = self._reasoning if isinstance(event, ReasoningDelta) else self._text
                shown.add(text)
        self.deltas += len(deltas)
        return deltas

    def _note(self, usage: Usage) -> None:
        self._reported = usage
        if usage.output_tokens:
            self._text, self._reasoning = GrowingText(), GrowingText()

    @property
    def is_overrun(self) -> bool:
        """Is the answer longer than any within its bound?"""
        return self._characters > self._most_characters

    def cut(self) -> None:
        """End the answer at its bound, whatever the provider says of its end."""
        self.is_cut = True
        self.finish_reason = "length"

    @property
    def has_output(self) -> bool:
        """Whether there is anything to bill: text, reasoning, or a clean finish with usage."""
        return self.deltas > 0 or (self.finish_reason is not None and self._reported is not None)

    @property
    def progress(self) -> int:
        """About how many tokens came so far: for those who ask after each delta."""
        return max(self.deltas, self._characters // 4)

    @property
    def usage(self) -> Usage:
        """The tokens that are billed: of an answer that was cut, all that its bound allows."""
        usage = self._counted
        output = self._output_bound if self.is_cut else usage.output_tokens
        is_within = usage.input_tokens <= self._input_bound and output <= self._output_bound
        if is_within and not self.is_cut:
            return usage
        return Usage(
            min(usage.input_tokens, self._input_bound),
            min(output, self._output_bound),
            min(usage.cached_tokens, self._input_bound),
            min(usage.reasoning_tokens, self._output_bound),
        )

    @property
    def is_counted(self) -> bool:
        """Whether the provider has counted all of the output."""
        reported = self._reported
        return bool(reported and reported.output_tokens and not self._has_uncounted)

    @property
    def counts_nothing(self) -> bool:
        """Whether the provider reports that there is no output at all, although there is."""
        return bool(self.deltas and self._reported and not self._reported.output_tokens)

    @property
    def cost(self) -> int:
        """Nano-USD, at cost."""
        usage = self.usage
        return token_cost(self._price, usage.input_tokens, usage.output_tokens, usage.cached_tokens)

    @property
    def _has_uncounted(self) -> bool:
        return bool(self._text.deltas or self._reasoning.deltas)

    @property
    def _counted(self) -> Usage:
        reported = self._reported or _NOTHING
        output, reasoning = reported.output_tokens, reported.reasoning_tokens
        # An answer that ends well was counted as a whole.
        is_whole = self.finish_reason is not None and not self.is_cut
        if self._has_uncounted and not (output and is_whole):
            shown = self._reasoning.tokens
            # Some providers count reasoning before they count any output.
            reasoning = reasoning + shown if output else max(reasoning, shown)
            output = (output + shown if output else reasoning) + self._text.tokens
        cached = min(reported.cached_tokens, self._input_tokens)
        return Usage(self._input_tokens, output, cached, reasoning)

    @property
    def _input_tokens(self) -> int:
        if self._reported and (self._reported.input_tokens or not self.deltas):
            return self._reported.input_tokens
        return self._estimate_input()


def written(delta: Delta) -> str:
    """What the model wrote of a delta, the name of a tool included."""
    return delta.name + delta.text if isinstance(delta, ToolCallDelta) else delta.text
