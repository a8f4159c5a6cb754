"""Ask agents of LangChain and LangGraph, which call a tool, and extract an object."""

import os
import sys

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from pydantic import BaseModel

name, question, statement = sys.argv[1:]
conversation = {"messages": [("user", question)]}
model = ChatOpenAI(
    model=name,
    base_url=os.environ["BASE_URL"],
    api_key=os.environ["API_KEY"],
    use_responses_api=False,
)


class Report(BaseModel):
    """What is known of the weather."""

    city: str
    summary: str


class Person(BaseModel):
    """A person."""

    name: str
    age: int


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"18 degrees in {city}"


agent = create_agent(model, tools=[get_weather], system_prompt="Be brief.")
print(agent.invoke(conversation)["messages"][-1].text)

for message, metadata in agent.stream(conversation, stream_mode="messages"):
    if metadata["langgraph_node"] == "model":
        print(message.text, end="")
print()

react = create_react_agent(model, [get_weather])
print(react.invoke(conversation)["messages"][-1].text)

agent = create_agent(model, tools=[get_weather], response_format=Report)
print(repr(agent.invoke(conversation)["structured_response"]))

whole = None
for chunk in model.bind_tools([get_weather]).stream(question):
    whole = chunk if whole is None else whole + chunk
print([call["args"] for call in whole.tool_calls], whole.usage_metadata["output_tokens"], "tokens")

for method in ("json_schema", "function_calling"):
    print(model.with_structured_output(Person, method=method).invoke(statement))
