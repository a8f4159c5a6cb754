"""Run agents of OpenAI's Agents SDK: one with a tool, one that hands over to it."""

import asyncio
import os
import sys

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from pydantic import BaseModel

name, question = sys.argv[1:]
set_tracing_disabled(True)  # traces would be sent to OpenAI
client = AsyncOpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"])
model = OpenAIChatCompletionsModel(model=name, openai_client=client)


class Report(BaseModel):
    city: str
    summary: str


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"18 degrees in {city}"


async def main() -> None:
    forecaster = Agent(name="Weather", instructions="Be brief.", model=model, tools=[get_weather])
    result = await Runner.run(forecaster, question)
    print(result.final_output)

    streamed = Runner.run_streamed(forecaster, question)
    async for event in streamed.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            print(event.data.delta, end="")
    print()

    desk = Agent(name="Desk", instructions="Hand over.", model=model, handoffs=[forecaster])
    result = await Runner.run(desk, question)
    print(result.last_agent.name, "says:", result.final_output)

    reporter = forecaster.clone(output_type=Report)
    result = await Runner.run(reporter, question)
    print(repr(result.final_output))


asyncio.run(main())
