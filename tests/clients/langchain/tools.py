"""Offer a tool with LangChain. The service takes tools and does not call them."""

import os
import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

[question] = sys.argv[1:]


@tool
def capital_of(country: str) -> str:
    """The capital of a country."""
    return {"France": "Paris"}[country]


model = ChatOpenAI(
    model="gpt-6-luna",
    base_url=os.environ["BASE_URL"],
    api_key=os.environ["API_KEY"],
    use_responses_api=False,
)
print(model.bind_tools([capital_of]).invoke(question).content)
