"""Ask an agent of Pydantic AI, which calls a tool: for words, for an object, and as a stream."""

import asyncio
import os
import sys

from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    NativeOutput,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

name, question = sys.argv[1:]
provider = OpenAIProvider(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"])
model = OpenAIChatModel(name, provider=provider)


class Report(BaseModel):
    """What is known of the weather."""

    city: str
    summary: str


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"18 degrees in {city}"


async def main() -> None:
    agent = Agent(model, tools=[get_weather], instructions="Be brief.")
    result = await agent.run(question)
    print(result.output)
    print(result.usage.requests, "requests,", result.usage.output_tokens, "tokens")

    # `run_stream` would take what a model says before its call for the answer.
    async with agent.run_stream_events(question) as events:
        async for event in events:
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                print(event.part.content, end="")
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                print(event.delta.content_delta, end="")
    print()

    for output in (Report, NativeOutput(Report)):
        agent = Agent(model, tools=[get_weather], output_type=output)
        result = await agent.run(question)
        print(repr(result.output))
        async with agent.run_stream(question) as stream:
            print(repr(await stream.get_output()))


asyncio.run(main())
