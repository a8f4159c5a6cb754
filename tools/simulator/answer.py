"""The simulator's answers: each word is one token, so that text, chunks and usage agree."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Literal

from simulator import projects, prompts
from simulator.steering import Steering

Ending = Literal["stop", "length", "refusal", "blocked"]

_WORD = re.compile(r"\s*\S+|\s+$")
_TAG = re.compile(r"</?[a-z_]+( [^<>]*)?>")
_QUOTED_WORDS = 12
_PROSE = (
    "{opening} This is the simulator, which stands in for {model} on this machine. It knows "
    "nothing of the world — yet every word it says is one token, so length, price and stream "
    "can be checked by hand. Give the service this provider's key and the same question goes to "
    "the real model instead; nothing else changes."
)
_THOUGHT = "The question is read, the answer is weighed, and each word of this thought is a token."


@dataclass(frozen=True, slots=True)
class Answer:
    """`words` and `reasoning` are tokens with their leading space; joined, they are the text."""

    words: tuple[str, ...]
    reasoning: tuple[str, ...]
    ending: Ending

    @property
    def text(self) -> str:
        return "".join(self.words)


def compose(
    texts: Sequence[str], model: str, steering: Steering, *, bound: int | None, thoughts: int
) -> Answer:
    """The answer to the last of these texts. `bound` limits reasoning and words together; the
    reasoning comes first.

    `thoughts` is the number of reasoning tokens, unless steered.
    """
    if steering.blocked:
        return Answer((), (), "blocked")
    words = _words(texts, model, steering)
    if steering.reasoning_tokens is not None:
        thoughts = steering.reasoning_tokens
    reasoning = _exactly(thoughts, tokens(_THOUGHT))
    wanted = len(reasoning) + len(words)
    room = wanted if bound is None else bound
    reasoning = reasoning[:room]
    words = words[: room - len(reasoning)]
    ending: Ending = "length" if room < wanted else "stop"
    return Answer(words, reasoning, "refusal" if steering.refusal else ending)


def tokens(text: str) -> tuple[str, ...]:
    """The words of the text, each with its leading space."""
    return tuple(_WORD.findall(text))


def _words(texts: Sequence[str], model: str, steering: Steering) -> tuple[str, ...]:
    text = steering.text
    if text is not None:
        text = projects.with_mark(text, texts)
    else:
        silent = steering.refusal and steering.tokens is None
        text = "" if silent else _usual(texts, model)
    words = tokens(text)
    return words if steering.tokens is None else _exactly(steering.tokens, words)


def _exactly(count: int, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, repeated until there are `count`."""
    again = (word if word[:1].isspace() else " " + word for word in cycle(words))
    return tuple(islice((*words, *islice(again, max(0, count - len(words)))), count))


def _usual(texts: Sequence[str], model: str) -> str:
    step = projects.kind_of(texts)
    if step is not None:
        return projects.answer(step, texts, model)
    question = texts[-1] if texts else ""
    if prompts.asks_for_title(question):
        return prompts.title(question)
    if prompts.asks_for_review(question):
        prose = _PROSE.format(opening=prompts.review_opening(question), model=model)
        return prompts.review(question, prose)
    return _PROSE.format(opening=_opening(question), model=model)


def _opening(question: str) -> str:
    """A quotation of the beginning of the question, without the tags of a prompt in sections."""
    words = _TAG.sub(" ", question).split()
    quoted = " ".join(words[:_QUOTED_WORDS]) + (" …" if len(words) > _QUOTED_WORDS else "")
    return f"You asked: “{quoted}”" if words else "You asked nothing in particular."
