"""The unmodified clients of the providers run tools, and parse forms, on the simulator."""

import anthropic
import pytest
from anthropic import Anthropic
from google import genai
from google.genai import types
from openai import pydantic_function_tool
from openai.types.chat import ChatCompletionMessageParam
from pydantic import BaseModel

from simulator.tests.conftest import Caller
from simulator.tests.openai_client import client_of

QUESTION = "What is the weather in Paris and New York?"
TOLD = "get_weather says: 18 degrees in Paris\nget_weather says: 18 degrees in New York"


class Weather(BaseModel):
    """The weather of a place."""

    city: str


class Person(BaseModel):
    name: str
    age: int


@pytest.mark.parametrize("streams", [False, True])
def test_openai_python_parses_calls_and_forms(caller: Caller, streams: bool) -> None:
    client = client_of(caller)
    tools = [pydantic_function_tool(Weather, name="get_weather")]
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": QUESTION}]
    if streams:
        with client.chat.completions.stream(
            model="gpt-6-luna", messages=messages, tools=tools
        ) as stream:
            answer = stream.get_final_completion()
    else:
        answer = client.chat.completions.parse(model="gpt-6-luna", messages=messages, tools=tools)
    calls = answer.choices[0].message.tool_calls or []
    asked = [call.function.parsed_arguments for call in calls]
    assert asked == [Weather(city="Paris"), Weather(city="New York")]
    parsed = client.chat.completions.parse(
        model="gpt-6-luna",
        messages=[{"role": "user", "content": "Alice is 30."}],
        response_format=Person,
    )
    assert parsed.choices[0].message.parsed == Person(name="Alice", age=30)


@pytest.mark.parametrize("streams", [False, True])
def test_anthropics_client_runs_its_tools(caller: Caller, streams: bool) -> None:
    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """The weather of a place."""
        return f"18 degrees in {city}"

    url = f"{caller.simulator.url}/anthropic"
    with Anthropic(base_url=url, api_key="alice", max_retries=0, timeout=10) as client:
        runner = client.beta.messages.tool_runner(
            model="claude-haiku-5-5",
            max_tokens=500,
            tools=[get_weather],
            messages=[{"role": "user", "content": QUESTION}],
            thinking={"type": "adaptive"},
            stream=streams,
            thread=False,
        )
        answer = runner.until_done()
    assert [block.text for block in answer.content if block.type == "text"] == [TOLD]


@pytest.mark.parametrize("streams", [False, True])
def test_googles_client_runs_its_functions(caller: Caller, streams: bool) -> None:
    def get_weather(city: str) -> str:
        """The weather of a place."""
        return f"18 degrees in {city}"

    options = types.HttpOptions(base_url=f"{caller.simulator.url}/google", api_version="v1beta")
    config = types.GenerateContentConfig(tools=[get_weather])
    with genai.Client(api_key="alice", http_options=options) as client:
        if streams:
            chunks = client.models.generate_content_stream(
                model="gemini-3.8-flash", contents=QUESTION, config=config
            )
            text = "".join(part.text or "" for chunk in chunks for part in chunk.parts or [])
        else:
            text = (
                client.models.generate_content(
                    model="gemini-3.8-flash", contents=QUESTION, config=config
                ).text
                or ""
            )
        form = types.GenerateContentConfig(
            response_mime_type="application/json", response_schema=Person
        )
        parsed = client.models.generate_content(
            model="gemini-3.8-flash", contents="Alice is 30.", config=form
        ).parsed
    assert text == TOLD
    assert parsed == Person(name="Alice", age=30)
