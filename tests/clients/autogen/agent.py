"""Ask an assistant of AutoGen, which carries out the calls that the model asks for."""

import asyncio
import json
import os
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage, ToolCallRequestEvent
from autogen_core.models import ModelFamily, ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel

model, mode, question, statement = sys.argv[1:]

client = OpenAIChatCompletionClient(
    model=model,
    base_url=os.environ["BASE_URL"],
    api_key=os.environ["API_KEY"],
    model_info=ModelInfo(
        vision=True,
        function_calling=True,
        json_output=True,
        structured_output=True,
        family=ModelFamily.UNKNOWN,
    ),
)


async def get_temperature(city: str) -> str:
    """The temperature in a city."""
    return f"{ {'Paris': 21, 'Berlin': 17}[city] } degrees"


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    celsius: int


async def ask() -> None:
    """Ask for what a tool knows, and say the answer in words."""
    assistant = AssistantAgent(
        "assistant",
        model_client=client,
        tools=[get_temperature],
        reflect_on_tool_use=True,
        model_client_stream=mode == "stream",
    )
    result = await assistant.run(task=question)
    for message in result.messages[1:]:
        if isinstance(message, ToolCallRequestEvent):
            for call in message.content:
                print(call.name, json.loads(call.arguments))
        elif isinstance(message, TextMessage):
            print(message.content)
    usage = client.total_usage()
    print(usage.prompt_tokens, usage.completion_tokens)


async def write_down() -> None:
    """Put a statement into a form."""
    clerk = AssistantAgent("clerk", model_client=client, output_content_type=Weather)
    result = await clerk.run(task=statement)
    print(result.messages[-1].content)


async def main() -> None:
    """Both, one after the other."""
    await ask()
    await write_down()
    await client.close()


asyncio.run(main())
