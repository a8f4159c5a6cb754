"""The unmodified openai-python client with tools, objects and pictures."""

import base64
import io
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import openai
import pytest
from PIL import Image
from pydantic import BaseModel

from publicapi.tests.v1.customer import IN_PLAN, Customer
from tests.clients.drill_openai_python import options
from tests.service import Web

EACH_WIRE = pytest.mark.parametrize("model", [IN_PLAN, "claude-haiku-5-5", "gemini-3.8-flash"])


class GetWeather(BaseModel):
    """The weather of a city."""

    city: str
    unit: Literal["celsius", "fahrenheit"]


class Person(BaseModel):
    name: str
    age: int


WEATHER = openai.pydantic_function_tool(GetWeather, name="get_weather")
PARIS_AND_ROME = [
    GetWeather(city="Paris", unit="fahrenheit"),
    GetWeather(city="Rome", unit="fahrenheit"),
]


@pytest.fixture
def client(web: Web, agent: Customer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(**options(web, agent.raw_key)) as client:
        yield client


@pytest.fixture
async def async_client(web: Web, agent: Customer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(**options(web, agent.raw_key)) as client:
        yield client


def asking(agent: Customer, question: str, **steering: Any) -> list[Any]:
    """The messages that begin a conversation."""
    return [{"role": "user", "content": agent.prompt(question, **steering)}]


@pytest.fixture
def weather(agent: Customer) -> list[Any]:
    return asking(agent, "What is the weather in Paris and Rome, in fahrenheit?")


def carry_out(messages: list[Any], turn: Any) -> list[GetWeather]:
    """Continue the conversation by the results of the calls of a turn; returns the calls."""
    messages.append(turn)
    calls = [call.function.parsed_arguments for call in turn.tool_calls]
    for call in turn.tool_calls:
        result = f"64 degrees in {call.function.parsed_arguments.city}"
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return calls


# --- Tools --------------------------------------------------------------------------------------


@EACH_WIRE
def test_a_model_calls_functions_and_answers_with_their_results(
    client: openai.OpenAI, weather: list[Any], model: str
) -> None:
    called = client.chat.completions.parse(model=model, messages=weather, tools=[WEATHER])
    assert called.choices[0].finish_reason == "tool_calls"
    assert carry_out(weather, called.choices[0].message) == PARIS_AND_ROME

    answer = client.chat.completions.create(model=model, messages=weather, tools=[WEATHER])
    [choice] = answer.choices
    assert choice.finish_reason == "stop"
    assert "64 degrees in Paris" in (choice.message.content or "")
    assert "64 degrees in Rome" in (choice.message.content or "")


@EACH_WIRE
def test_the_stream_helper_tells_of_each_call_with_its_arguments(
    client: openai.OpenAI, weather: list[Any], model: str
) -> None:
    with client.chat.completions.stream(model=model, messages=weather, tools=[WEATHER]) as stream:
        told = [
            event.parsed_arguments
            for event in stream
            if event.type == "tool_calls.function.arguments.done"
        ]
        called = stream.get_final_completion()
    assert told == PARIS_AND_ROME
    assert carry_out(weather, called.choices[0].message) == PARIS_AND_ROME

    with client.chat.completions.stream(model=model, messages=weather, tools=[WEATHER]) as stream:
        words = "".join(event.delta for event in stream if event.type == "content.delta")
    assert "64 degrees in Rome" in words


@EACH_WIRE
async def test_the_async_stream_helper_does_so_as_well(
    async_client: openai.AsyncOpenAI, weather: list[Any], model: str
) -> None:
    async with async_client.chat.completions.stream(
        model=model, messages=weather, tools=[WEATHER]
    ) as stream:
        called = await stream.get_final_completion()
    assert carry_out(weather, called.choices[0].message) == PARIS_AND_ROME


def test_a_function_can_be_forced_and_calls_can_come_one_by_one(
    client: openai.OpenAI, agent: Customer, weather: list[Any]
) -> None:
    one = client.chat.completions.parse(
        model=IN_PLAN, messages=weather, tools=[WEATHER], parallel_tool_calls=False
    )
    assert carry_out(weather, one.choices[0].message) == PARIS_AND_ROME[:1]

    forced = client.chat.completions.parse(
        model=IN_PLAN,
        messages=asking(agent, "Hello, Paris!"),
        tools=[WEATHER],
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
    )
    [call] = forced.choices[0].message.tool_calls or []
    assert call.function.parsed_arguments == GetWeather(city="Paris", unit="celsius")


# --- Objects ------------------------------------------------------------------------------------


@EACH_WIRE
def test_an_answer_is_an_object_of_a_class(
    client: openai.OpenAI, agent: Customer, model: str
) -> None:
    messages = asking(agent, "Alice is 30 years old.")
    parsed = client.chat.completions.parse(model=model, messages=messages, response_format=Person)
    assert parsed.choices[0].message.parsed == Person(name="Alice", age=30)


@EACH_WIRE
def test_a_stream_grows_into_an_object(client: openai.OpenAI, agent: Customer, model: str) -> None:
    messages = asking(agent, "Alice is 30 years old.")
    with client.chat.completions.stream(
        model=model, messages=messages, response_format=Person
    ) as stream:
        [done] = [event.parsed for event in stream if event.type == "content.done"]
    assert done == Person(name="Alice", age=30)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_a_refusal_is_shown_instead_of_an_object(
    client: openai.OpenAI, agent: Customer, streamed: bool
) -> None:
    messages = asking(agent, "How old is Bob?", refusal=True, text="That is private.")
    if streamed:
        with client.chat.completions.stream(
            model=IN_PLAN, messages=messages, response_format=Person
        ) as stream:
            [refusal] = [event.refusal for event in stream if event.type == "refusal.done"]
            answer = stream.get_final_completion().choices[0].message
        assert refusal == "That is private."
    else:
        parsed = client.chat.completions.parse(
            model=IN_PLAN, messages=messages, response_format=Person
        )
        answer = parsed.choices[0].message
    assert (answer.refusal, answer.parsed) == ("That is private.", None)


# --- Pictures -----------------------------------------------------------------------------------


@EACH_WIRE
def test_a_model_sees_a_picture(client: openai.OpenAI, agent: Customer, model: str) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(picture, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}"
    answer = client.chat.completions.create(
        model=model,
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": agent.prompt("What is in this picture?")},
                    {"type": "image_url", "image_url": {"url": url, "detail": "low"}},
                ],
            }
        ],
    )
    words = answer.choices[0].message.content or ""
    assert "40 x 30 pixels and mostly red" in words
