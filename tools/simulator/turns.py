"""What is open in a conversation: the last question, and the results and pictures since."""

import re
from collections.abc import Sequence

from simulator.functions import Result
from simulator.sights import Sight

_OBSERVATION = "Observation:"
_OF_PICTURES = re.compile(r"\b(?:image|photo|picture)s?\b", re.IGNORECASE)


class Turns:
    """Listens to the turns of a conversation in their order.

    `has_tools`: some clients send results as a user's message with the word Observation before it.
    """

    def __init__(self, *, has_tools: bool) -> None:
        self.question = ""
        self.results: list[Result] = []
        self.sights: list[Sight] = []
        self._has_tools = has_tools
        self._names: dict[str, str] = {}
        self._follows_result = False

    def asked(self, text: str, sights: Sequence[Sight] = ()) -> None:
        """A message of the user. Pictures right after results are those of the results; a question
        about a picture that brings none is about those before it."""
        if self._has_tools and text.startswith(_OBSERVATION):
            self.results.append(Result("", text.removeprefix(_OBSERVATION).strip()))
        elif not (self.results and sights and self._follows_result):
            self.question = text
            self.results = []
            if sights or not _OF_PICTURES.search(text):
                self.sights = []
            self._follows_result = False
        self.sights += sights

    def said(self) -> None:
        """A message of the model."""
        self._follows_result = False

    def called(self, call_id: str, name: str) -> None:
        """A call that the model asked for."""
        self._names[call_id] = name

    def answered(self, call_id: str, text: str, sights: Sequence[Sight] = ()) -> None:
        """The result of a call."""
        self.results.append(Result(self._names.get(call_id, ""), text))
        self._follows_result = True
        self.sights += sights
