"""The upper bounds of a chat call: what is held for the call, and sent to the provider."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import cast

from ai.catalog.pricing import token_cost
from ai.catalog.types import Model, TokenPrice
from ai.providers.tokens import input_upper_bound
from ai.providers.types import JsonOutput, Message, Tools
from billing.selectors.affordability import SpendingPower

DEFAULT_OUTPUT_TOKENS = 8_192
# A shorter answer is useless: a caller who cannot pay for this many is refused with the amount
# missing.
LEAST_OUTPUT_TOKENS = 512


def input_bound(
    model: Model,
    messages: Iterable[Message],
    tools: Tools | None = None,
    output: JsonOutput | None = None,
) -> int:
    """The upper bound of the input tokens of these messages and definitions."""
    return input_upper_bound(
        messages,
        model.prompt_overhead_tokens,
        provider=model.provider,
        tools=tools,
        output=output,
    )


def output_bound(model: Model, asked: int | None = None) -> int:
    """The upper bound of the output tokens. `asked` is the caller's own bound, if any."""
    return min(asked or DEFAULT_OUTPUT_TOKENS, model.max_output_tokens)


def affordable_output(
    spending_power: SpendingPower,
    model: Model,
    messages: Iterable[Message],
    asked: int | None = None,
    tools: Tools | None = None,
    within: int | None = None,
) -> int:
    """`output_bound`, reduced to what can be paid, but LEAST_OUTPUT_TOKENS at least: the hold
    decides whether that many can be paid. `within`: what plan and balance may pay together, in
    nano-USD, if there is such a bound."""
    bound = output_bound(model, asked)
    tokens_in, most = input_bound(model, messages, tools), spending_power.most(model.id, within)
    affordable = bisect_right(
        range(bound + 1), most, key=lambda tokens_out: chat_cost(model, tokens_in, tokens_out)
    )
    return max(affordable - 1, min(LEAST_OUTPUT_TOKENS, bound))


def worst_chat_cost(model: Model, messages: Iterable[Message]) -> int:
    """The most that a chat call with these messages can cost whose caller sets no bound, in
    nano-USD at cost: `ChatCall.worst_cost` of such a call."""
    return chat_cost(model, input_bound(model, messages), output_bound(model))


def chat_cost(model: Model, tokens_in: int, tokens_out: int, cached_tokens: int = 0) -> int:
    """The cost of a call to a chat model with this many tokens, in nano-USD. `cached_tokens` of its
    input came from the provider's cache: never any of a worst case, as they cost no more."""
    return token_cost(cast(TokenPrice, model.price), tokens_in, tokens_out, cached_tokens)
