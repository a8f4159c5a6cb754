"""Input that the provider has read from its cache is billed at its own price, where it has one."""

import json
from typing import Any

import pytest

from ai.providers.tests import chunks
from common.money import usd
from common.tests.upstream import JSON, Answer, Upstream
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, Customer
from publicapi.tests.v1.scripted import Scripted

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])

PROMPT, CACHED = 8_009, 7_000
# Max grants an allowance for it, and its provider counts cached tokens beside the others.
ANTHROPIC = "claude-haiku-5-5"
# Max grants an allowance for it, and its provider counts with every part of an answer.
GEMINI = "gemini-3.8-flash"


def long_call(customer: Customer, steer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The body of a call whose prompt has PROMPT tokens for the simulator: its words, and four."""
    question = customer.prompt(**steer)
    filler = "word " * (PROMPT - 4 - len(question.split()))
    return customer.body(messages=[{"role": "user", "content": filler + question}], **fields)


def told(text: str) -> dict[str, Any]:
    """The usage of an answer, whole or streamed."""
    if text.startswith("{"):
        return dict(json.loads(text)["usage"])
    *_, last, done, end = text.split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    return dict(json.loads(last.removeprefix("data: "))["usage"])


@STREAM
@pytest.mark.parametrize(
    ("model", "cost"),
    [
        # 1,009 at 1.10, 7,000 at 1.01 and 10 at 1.50 USD per million tokens.
        (IN_PLAN, 1_109_900 + 7_070_000 + 15_000),
        (ANTHROPIC, 1_109_900 + 7_070_000 + 15_000),
        # 1,009 at 1.75, 7,000 at 1.075 and 10 at 4.75.
        (GEMINI, 1_765_750 + 7_525_000 + 47_500),
    ],
)
def test_cached_input_costs_its_own_rate_and_the_fee(
    alice: Customer, model: str, cost: int, stream: bool
) -> None:
    steer = {"tokens": 10, "reasoning_tokens": 0, "cached_tokens": CACHED}
    response = alice.post(json=long_call(alice, steer, model=model, stream=stream))

    usage = told(response.text)
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (PROMPT, 10)
    assert usage["prompt_tokens_details"] == {"cached_tokens": CACHED}
    charge = alice.charge()
    assert (charge.tokens_in, charge.cached_tokens, charge.cost) == (PROMPT, CACHED, cost)
    assert alice.listed_cost(model, PROMPT, 10, CACHED) == cost
    assert alice.spent_of_plan(model) == cost
    assert alice.spent_of_balance() == 0


@STREAM
def test_the_balance_pays_twice_that(alice: Customer, stream: bool) -> None:
    """1,009 at 4.00, 7,000 at 1.30 and 10 at 16.00 USD per million tokens."""
    steer = {"tokens": 10, "reasoning_tokens": 0, "cached_tokens": CACHED}
    alice.post(json=long_call(alice, steer, model=BALANCE_ONLY, stream=stream))

    assert alice.spent_of_balance() == 2 * (4_036_000 + 9_100_000 + 160_000)
    [month] = alice.get("/v1/usage").json()["by_model"]
    assert month["usd"] == usd(alice.spent_of_balance())


@STREAM
def test_a_replayed_answer_tells_the_cached_tokens_again(alice: Customer, stream: bool) -> None:
    body = alice.body(stream=stream, steer={"tokens": 5, "cached_tokens": 3})
    named = {"Idempotency-Key": f"cached {alice.marker}"}
    first, second = (alice.post(json=body, headers=named) for _ in range(2))

    assert second.headers["idempotency-replayed"] == "true"
    assert told(second.text) == told(first.text)
    assert told(second.text)["prompt_tokens_details"] == {"cached_tokens": 3}
    assert alice.spent_of_plan() == alice.charge().cost


@pytest.mark.parametrize("model", [IN_PLAN, ANTHROPIC, GEMINI])
def test_what_a_broken_stream_has_told_of_its_cache_is_billed_so(
    alice: Customer, model: str
) -> None:
    """OpenAI has counted nothing by then, and so has told of no cache."""
    steer = {"text": "one " * 50, "cached_tokens": CACHED, "after_tokens": 5, "drop": True}
    alice.post(json=long_call(alice, steer, model=model, stream=True))

    charge = alice.charge()
    counts = (charge.tokens_in, charge.tokens_out, charge.cached_tokens)
    assert charge.tokens_out == 5
    assert charge.cost == alice.listed_cost(model, *counts) == alice.spent_of_plan(model)
    if model != IN_PLAN:
        assert counts == (PROMPT, 5, CACHED)


# --- What a provider may say ----------------------------------------------------------------------


def answer(upstream: Upstream, cached: object, *, stream: bool) -> None:
    """Have the provider say that it read nine tokens, and wrote three."""
    usage = chunks.usage(9, 3, prompt_tokens_details={"cached_tokens": cached})
    if stream:
        upstream.answer = Answer([chunks.text("Hello"), chunks.finish(usage=usage), chunks.DONE])
    else:
        message = {"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}
        whole = json.dumps({"choices": [message], "usage": usage}).encode()
        upstream.answer = Answer([whole], content_type=JSON)


@STREAM
@pytest.mark.parametrize(
    ("cached", "believed"),
    [(5, 5), (9, 9), (10, 9), (10**9, 9), (10**30, 0), (-1, 0), (None, 0), ("seven", 0), ([], 0)],
)
def test_no_more_is_cached_than_was_read_and_never_less_than_nothing(
    committed: None,
    scripted: Scripted,
    upstream: Upstream,
    cached: object,
    believed: int,
    stream: bool,
) -> None:
    alice = scripted.new_customer()
    answer(upstream, cached, stream=stream)

    response = alice.chat(stream=stream)

    assert told(response.text)["prompt_tokens_details"] == {"cached_tokens": believed}
    charge = alice.charge()
    assert (charge.tokens_in, charge.tokens_out, charge.cached_tokens) == (9, 3, believed)
    assert charge.cost == (9 - believed) * 1_100 + believed * 1_010 + 3 * 1_500
