"""Ask an agent of Strands, which carries out the calls that the model asks for."""

import os
import sys

from pydantic import BaseModel
from strands import Agent, tool
from strands.models.openai import OpenAIModel

model, question, statement = sys.argv[1:]


@tool
def get_temperature(city: str) -> str:
    """The temperature in a city.

    Args:
        city: The name of the city.
    """
    return f"{ {'Paris': 21, 'Berlin': 17}[city] } degrees"


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    celsius: int


def agent(**options: object) -> Agent:
    """One that has said nothing yet."""
    access = {"base_url": os.environ["BASE_URL"], "api_key": os.environ["API_KEY"]}
    return Agent(
        model=OpenAIModel(client_args=access, model_id=model), callback_handler=None, **options
    )


asked = agent(tools=[get_temperature])
result = asked(question)
for message in asked.messages:
    for block in message["content"]:
        if "toolUse" in block:
            print(block["toolUse"]["name"], block["toolUse"]["input"])
print(result)
usage = result.metrics.accumulated_usage
print(result.stop_reason, usage["inputTokens"], usage["outputTokens"])

print(agent()(statement, structured_output_model=Weather).structured_output)
