"""An agent around a model, and some functions for it."""

import json
from typing import Any

from simulator.tests.conftest import Caller


def function(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    """A function with these properties, all of them required."""
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    defined = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": defined}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
WEATHER = function("get_weather", "The weather of a place.", city=TEXT)
TIME = function("getTime", "The clock of a place.", place=TEXT)
ADD = function("add", "The sum of two numbers.", a=NUMBER, b=NUMBER)
FINAL = function("final_answer", "Ends the task.", answer=TEXT)


class Agent:
    """A loop around a model: it asks, answers each call, and asks again until there is none."""

    def __init__(self, caller: Caller, provider: str = "openai", **fields: object) -> None:
        self._caller = caller
        self._provider = provider
        self._fields = fields
        self.messages: list[dict[str, Any]] = []

    def ask(self, question: str | None = None, **fields: object) -> dict[str, Any]:
        """The choice of one answer, which becomes a part of the conversation."""
        if question is not None:
            self.messages.append({"role": "user", "content": question})
        body = {"model": "m", "messages": self.messages} | self._fields | fields
        answer = self._caller.post(body, self._provider)
        assert answer.status_code == 200, answer.text
        choice: dict[str, Any] = answer.json()["choices"][0]
        self.messages.append(choice["message"])
        return choice

    def answer(self, content: str = "18 degrees") -> None:
        """A result for each call of the last message."""
        for call in self.messages[-1]["tool_calls"]:
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


def calls(choice: dict[str, Any]) -> list[tuple[str, Any]]:
    """The names and the arguments of the calls."""
    entries = [entry["function"] for entry in choice["message"].get("tool_calls", [])]
    return [(entry["name"], json.loads(entry["arguments"])) for entry in entries]
