"""The unmodified Anthropic client understands what the simulator says on Anthropic's wire."""

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx
import pytest
from anthropic import Anthropic
from anthropic.types import MessageParam

from simulator.tests.conftest import Caller

MODEL = "claude-sonnet-5-5"
SHOWN: dict[str, Any] = {
    "thinking": {"type": "adaptive", "display": "summarized"},
    "output_config": {"effort": "low"},
}


@pytest.fixture
def client(caller: Caller) -> Iterator[Anthropic]:
    url = f"{caller.simulator.url}/anthropic"
    with Anthropic(base_url=url, api_key="alice", max_retries=0, timeout=10) as client:
        yield client


def user(text: str) -> list[MessageParam]:
    return [{"role": "user", "content": text}]


def post(caller: Caller, **fields: object) -> httpx.Response:
    """A call as bytes; a field that is None is left out."""
    body = {"model": MODEL, "max_tokens": 50, "messages": user(caller.prompt())} | fields
    sent = {name: value for name, value in body.items() if value is not None}
    headers = {"x-api-key": "alice", "anthropic-version": "2023-06-01"}
    url = f"{caller.simulator.url}/anthropic/v1/messages"
    return caller.http.post(url, json=sent, headers=headers)


def names(stream: str) -> list[str]:
    """The names of a stream's events."""
    return [line[7:] for line in stream.splitlines() if line.startswith("event: ")]


def test_a_whole_answer_has_as_many_tokens_as_words(caller: Caller, client: Anthropic) -> None:
    answer = client.messages.create(
        model=MODEL, max_tokens=50, system="Be brief.", messages=user(caller.prompt(tokens=7))
    )
    (block,) = answer.content
    assert block.type == "text"
    assert len(block.text.split()) == answer.usage.output_tokens == 7
    assert answer.stop_reason == "end_turn"
    assert answer.usage.input_tokens == caller.entry()["prompt_tokens"]
    assert caller.entry()["prompt_tokens"] == len(caller.prompt(tokens=7).split()) + 4 + 2 + 4
    assert caller.entry()["kind"] == "chat"


def test_a_streamed_answer_says_the_same(caller: Caller, client: Anthropic) -> None:
    messages = user("What is the capital of France?")
    whole = client.messages.create(model=MODEL, max_tokens=90, messages=messages, **SHOWN)
    with client.messages.stream(model=MODEL, max_tokens=90, messages=messages, **SHOWN) as stream:
        streamed = stream.get_final_message()
    blocks = [[block.to_dict() for block in answer.content] for answer in (whole, streamed)]
    assert blocks[0] == blocks[1]
    assert streamed.usage.output_tokens == whole.usage.output_tokens
    assert streamed.usage.input_tokens == whole.usage.input_tokens
    assert streamed.stop_reason == whole.stop_reason
    assert [block.type for block in whole.content] == ["thinking", "text"]


def test_the_events_come_in_their_order(caller: Caller) -> None:
    messages = user(caller.prompt(tokens=1, reasoning_tokens=1))
    stream = post(caller, stream=True, messages=messages, **SHOWN).text
    assert names(stream) == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",  # the signature
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_thinking_is_billed_though_it_is_not_shown(caller: Caller, client: Anthropic) -> None:
    messages = user(caller.prompt(tokens=2))
    effort: dict[str, Any] = {"output_config": {"effort": "high"}}
    with client.messages.stream(model=MODEL, max_tokens=90, messages=messages, **effort) as stream:
        answer = stream.get_final_message()
    thinking, text = answer.content
    assert thinking.type == "thinking"
    assert (thinking.thinking, bool(thinking.signature)) == ("", True)
    assert text.type == "text"
    assert answer.usage.output_tokens == 2 + caller.entry()["reasoning_tokens"] > 2
    assert caller.entry()["reasoning_emitted"] == 0


def test_thinking_uses_up_the_bound_first(caller: Caller, client: Anthropic) -> None:
    answer = client.messages.create(
        model=MODEL, max_tokens=5, messages=user(caller.prompt(reasoning_tokens=20))
    )
    assert [block.type for block in answer.content] == ["thinking"]
    assert answer.stop_reason == "max_tokens"
    assert answer.usage.output_tokens == 5


def test_input_excludes_what_the_cache_read_and_wrote(caller: Caller, client: Anthropic) -> None:
    messages = user(caller.prompt(cached_tokens=3, cache_write_tokens=2))
    usage = client.messages.create(model=MODEL, max_tokens=90, messages=messages).usage
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (3, 2)
    assert usage.input_tokens == caller.entry()["prompt_tokens"] - 5
    assert caller.entry()["cached_tokens"] == 3


def test_usage_that_was_said_too_low_is_restated(caller: Caller, client: Anthropic) -> None:
    messages = user(caller.prompt(restate_usage=True))
    with client.messages.stream(model=MODEL, max_tokens=90, messages=messages) as stream:
        first = next(iter(stream))
        answer = stream.get_final_message()
    assert first.type == "message_start"
    assert first.message.usage.input_tokens == 1
    assert answer.usage.input_tokens == caller.entry()["prompt_tokens"] > 1


def test_the_model_can_decline(caller: Caller, client: Anthropic) -> None:
    answer = client.messages.create(
        model=MODEL, max_tokens=90, messages=user(caller.prompt(refusal=True))
    )
    assert (answer.stop_reason, answer.content) == ("refusal", [])
    assert answer.stop_details is not None
    assert answer.stop_details.type == "refusal"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (401, anthropic.AuthenticationError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
        (529, anthropic.InternalServerError),
    ],
)
def test_a_refusal_is_the_error_the_client_knows(
    caller: Caller, client: Anthropic, status: int, error: type[anthropic.APIStatusError]
) -> None:
    with pytest.raises(error) as caught:
        client.messages.create(
            model=MODEL, max_tokens=9, messages=user(caller.prompt(status=status))
        )
    assert caught.value.status_code == status
    assert caught.value.request_id == f"req_{caller.entry()['id']}"


def test_an_overload_has_its_own_name(caller: Caller) -> None:
    answer = post(caller, messages=user(caller.prompt(status=529))).json()
    assert answer["type"] == "error"
    assert answer["error"]["type"] == "overloaded_error"


def test_a_reason_stands_among_the_details_of_an_error(caller: Caller) -> None:
    messages = user(caller.prompt(status=429, code="enforced_spend_limit_reached", retry_after=5))
    answer = post(caller, messages=messages)
    assert answer.headers["retry-after"] == "5"
    assert answer.json()["error"]["type"] == "rate_limit_error"
    assert answer.json()["error"]["details"] == {"error_code": "enforced_spend_limit_reached"}


def test_a_stream_can_begin_with_an_error(caller: Caller, client: Anthropic) -> None:
    messages = user(caller.prompt(error_in_200=True, status=529))
    stream = post(caller, stream=True, messages=messages)
    assert stream.status_code == 200
    assert names(stream.text) == ["error"]
    with (
        pytest.raises(anthropic.APIStatusError, match="Overloaded"),
        client.messages.stream(model=MODEL, max_tokens=9, messages=messages) as events,
    ):
        events.get_final_message()


def test_an_error_can_come_after_some_words(caller: Caller) -> None:
    messages = user(caller.prompt(fail="after", after_tokens=2))
    stream = post(caller, stream=True, messages=messages).text
    assert names(stream).count("content_block_delta") == 2
    assert names(stream)[-1] == "error"
    assert caller.entry()["tokens_emitted"] == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": None},
        {"max_tokens": 0},
        {"max_tokens": 128_001},
        {"messages": []},
        {"messages": [{"role": "system", "content": "Be brief."}]},
        {"messages": [{"role": "assistant", "content": "Hello."}, *user("Hello.")]},
        {"messages": [*user("Hello."), {"role": "assistant", "content": "Well"}]},
        {"messages": user("")},
        {"messages": user(" \n")},
        {"temperature": 0.5},
        {"top_p": 0.5},
        {"top_k": 5},
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"output_config": {"effort": "maximal"}},
        {"no_such_field": 1},
        {"model": None},
    ],
)
def test_fields_that_the_newer_models_refuse_are_refused(
    caller: Caller, fields: dict[str, Any]
) -> None:
    answer = post(caller, **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_neighbouring_turns_of_the_same_role_are_taken(caller: Caller) -> None:
    assert post(caller, messages=[*user("One."), *user("Two.")]).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"anthropic-version": "2023-06-01"}, 401),
        ({"anthropic-version": "2023-06-01", "x-api-key": "wrong"}, 401),
        ({"anthropic-version": "2023-06-01", "authorization": "Bearer wrong"}, 401),
        ({"anthropic-version": "2023-06-01", "authorization": "Bearer alice"}, 200),
        ({"x-api-key": "alice"}, 400),
    ],
)
def test_a_key_and_a_version_are_required(
    caller: Caller, headers: dict[str, str], status: int
) -> None:
    url = f"{caller.simulator.url}/anthropic/v1/messages"
    body = {"model": MODEL, "max_tokens": 9, "messages": user("Hello.")}
    assert httpx.post(url, json=body, headers=headers).status_code == status
