"""The unmodified openai-python client understands what the simulator says."""

import openai
import pytest
from openai.types.chat import ChatCompletionUserMessageParam

from simulator.tests.conftest import Caller
from simulator.tests.openai_client import client_of


def user(text: str) -> list[ChatCompletionUserMessageParam]:
    return [{"role": "user", "content": text}]


def test_a_whole_answer_has_as_many_tokens_as_words(caller: Caller) -> None:
    answer = client_of(caller).chat.completions.create(
        model="gpt-6-luna", messages=user(caller.prompt(tokens=7))
    )
    text = answer.choices[0].message.content
    assert text is not None
    assert answer.usage is not None
    assert answer.choices[0].finish_reason == "stop"
    assert len(text.split()) == answer.usage.completion_tokens == 7
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 7
    assert answer.id == f"chatcmpl-{caller.entry()['id']}"


def test_a_streamed_answer_is_one_chunk_per_token_and_then_its_usage(caller: Caller) -> None:
    chunks = list(
        client_of(caller).chat.completions.create(
            model="gpt-6-luna",
            messages=user(caller.prompt(tokens=9)),
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    words = [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]
    assert len(words) == 9
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 9
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_streamed_and_whole_answers_say_the_same(caller: Caller) -> None:
    client = client_of(caller)
    messages = user("What is the capital of France?")
    whole = client.chat.completions.create(model="gpt-6-luna", messages=messages)
    stream = client.chat.completions.create(model="gpt-6-luna", messages=messages, stream=True)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert streamed == whole.choices[0].message.content
    assert "What is the capital of France?" in streamed


def test_no_usage_is_streamed_unless_asked_for(caller: Caller) -> None:
    stream = client_of(caller).chat.completions.create(
        model="gpt-6-luna", messages=user(caller.prompt(tokens=2)), stream=True
    )
    assert all(chunk.usage is None for chunk in stream)


@pytest.mark.parametrize("bound", [1, 5])
def test_the_bound_is_kept_exactly(caller: Caller, bound: int) -> None:
    answer = client_of(caller).chat.completions.create(
        model="gpt-6-luna", messages=user(caller.prompt(tokens=6)), max_completion_tokens=bound
    )
    assert answer.usage is not None
    assert answer.usage.completion_tokens == bound
    assert answer.choices[0].finish_reason == "length"
    assert caller.entry()["max_tokens"] == bound


def test_a_bound_that_is_just_met_ends_with_stop(caller: Caller) -> None:
    answer = client_of(caller).chat.completions.create(
        model="gpt-6-luna", messages=user(caller.prompt(tokens=6)), max_completion_tokens=6
    )
    assert answer.choices[0].finish_reason == "stop"


def test_reasoning_uses_up_the_bound_first(caller: Caller) -> None:
    answer = client_of(caller).chat.completions.create(
        model="gpt-6-luna",
        messages=user(caller.prompt(tokens=6, reasoning_tokens=20)),
        max_completion_tokens=20,
    )
    assert answer.choices[0].message.content == ""
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 20
    assert answer.usage.completion_tokens_details is not None
    assert answer.usage.completion_tokens_details.reasoning_tokens == 20


def test_prompt_tokens_are_the_words_and_four_per_message(caller: Caller) -> None:
    answer = client_of(caller).chat.completions.create(
        model="gpt-6-luna",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "One two three"}]},
        ],
    )
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == 2 + 4 + 3 + 4


def test_models_are_listed(caller: Caller) -> None:
    assert "gpt-6-luna" in [model.id for model in client_of(caller).models.list()]


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, openai.BadRequestError, "invalid_value"),
        (404, openai.NotFoundError, "model_not_found"),
        (429, openai.RateLimitError, "rate_limit_exceeded"),
        (500, openai.InternalServerError, "server_error"),
        (503, openai.InternalServerError, "server_is_overloaded"),
    ],
)
def test_a_refusal_is_the_error_the_client_knows(
    caller: Caller, status: int, error: type[openai.APIStatusError], code: str
) -> None:
    with pytest.raises(error) as caught:
        client_of(caller).chat.completions.create(
            model="gpt-6-luna", messages=user(caller.prompt(status=status))
        )
    assert caught.value.status_code == status
    assert caught.value.code == code


def test_an_error_in_mid_stream_reaches_the_client_after_the_words(caller: Caller) -> None:
    stream = client_of(caller).chat.completions.create(
        model="gpt-6-luna",
        messages=user(caller.prompt(fail="after", after_tokens=3)),
        stream=True,
    )
    contents = [next(stream).choices[0].delta.content for _ in range(4)]
    assert contents[0] == ""
    assert all(contents[1:])
    with pytest.raises(openai.APIError, match="had an error"):
        next(stream)
