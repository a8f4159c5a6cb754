"""Give a task to an agent of smolagents, which carries out the calls that the model asks for."""

import os
import sys

from smolagents import LogLevel, OpenAIServerModel, ToolCallingAgent, tool

model, mode, task = sys.argv[1:]


@tool
def get_temperature(city: str) -> str:
    """The temperature in a city.

    Args:
        city: The name of the city.
    """
    return f"{ {'Paris': 21, 'Berlin': 17}[city] } degrees"


agent = ToolCallingAgent(
    tools=[get_temperature],
    model=OpenAIServerModel(
        model_id=model,
        api_base=os.environ["BASE_URL"],
        api_key=os.environ["API_KEY"],
    ),
    stream_outputs=mode == "stream",
    verbosity_level=LogLevel.OFF,
)
result = agent.run(task, return_full_result=True)
print()  # behind what is shown of a stream
for step in result.steps[1:]:
    for call in step["tool_calls"]:
        print(call["function"]["name"], call["function"]["arguments"])
print(result.output)
print(result.state, result.token_usage.input_tokens, result.token_usage.output_tokens)
