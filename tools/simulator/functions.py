"""The functions that a request offers, the calls of them, and their results."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from simulator.sights import Sight
from simulator.tokens import TOKENS_PER_MESSAGE, tokens

Schema = Mapping[str, Any]
Choice = Literal["auto", "none", "required", "named"]


@dataclass(frozen=True, slots=True)
class Function:
    """`schema` is the JSON Schema of the arguments."""

    name: str
    description: str
    schema: Schema

    @property
    def tokens(self) -> int:
        """The words of all that a model reads of it."""
        words = f"{self.name} {self.description} {json.dumps(self.schema)}".split()
        return len(words) + TOKENS_PER_MESSAGE


@dataclass(frozen=True, slots=True)
class Offer:
    """The functions of a request. `named` is the one that has to be called, where `choice` says
    so; `parallel`: several calls may come at once."""

    functions: tuple[Function, ...]
    choice: Choice = "auto"
    named: str = ""
    parallel: bool = True

    def complaint(self) -> str | None:
        """What is wrong with names on any wire."""
        names = [function.name for function in self.functions]
        if self.choice == "named" and self.named not in names:
            return f"Tool choice '{self.named}' not found in 'tools' parameter."
        return None


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call of the function `name`; it is empty where nobody says whose it is."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`arguments` are tokens with their leading space; joined, they are the text of the arguments.
    `is_whole`: no bound cut them."""

    name: str
    arguments: tuple[str, ...]
    is_whole: bool = True

    @classmethod
    def of(cls, name: str, arguments: object) -> "FunctionCall":
        """The call with these arguments: a text as it is, anything else as JSON."""
        text = (
            arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        )
        return cls(name, tokens(text))

    @property
    def text(self) -> str:
        return "".join(self.arguments)

    @property
    def object(self) -> dict[str, Any] | None:
        """The arguments as an object, None where they are none. No text at all is an empty one."""
        try:
            value = json.loads(self.text or "{}")
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def cut(self, count: int) -> "FunctionCall":
        """The call with no more than so many tokens of arguments."""
        if count >= len(self.arguments):
            return self
        return FunctionCall(self.name, self.arguments[:count], is_whole=False)


@dataclass(frozen=True, slots=True)
class Task:
    """What a request asks for besides words.

    `output` is the JSON Schema of the answer, an empty one for any object. `results` and `sights`
    came with the last message of the user and after it. `speaks_first`: a sentence comes before a
    call that the model decided on. `thoughts` is the least number of reasoning tokens before a
    call.
    """

    offer: Offer | None = None
    output: Schema | None = None
    results: tuple[Result, ...] = ()
    sights: tuple[Sight, ...] = ()
    speaks_first: bool = False
    thoughts: int = 0
