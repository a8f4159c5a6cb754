"""The simulator's answers: each word is one token, so that text, chunks and usage agree."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Literal

from simulator import decisions, json_answers, projects, prompts
from simulator.competence import turns
from simulator.competence.slips import Slip
from simulator.functions import FunctionCall, Task
from simulator.steering import Steering
from simulator.tokens import tokens

# `calls`: the model waits for the results of its calls.
Ending = Literal["stop", "calls", "length", "refusal", "blocked"]

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
    """`words` and `reasoning` are tokens with their leading space; joined, they are the text.
    `calls` come after the words."""

    words: tuple[str, ...]
    reasoning: tuple[str, ...]
    ending: Ending
    calls: tuple[FunctionCall, ...] = ()

    @property
    def text(self) -> str:
        return "".join(self.words)

    @property
    def spoken(self) -> tuple[str, ...]:
        """The words, and those of the arguments of the calls."""
        return (*self.words, *(word for call in self.calls for word in call.arguments))

    def cut(self, count: int) -> "Answer":
        """The answer with so many spoken tokens; a call without any is not there."""
        if count >= len(self.spoken):
            return self
        left = count - len(self.words)
        calls = []
        for call in self.calls:
            if left <= 0:
                break
            calls.append(call.cut(left))
            left -= len(call.arguments)
        return Answer(self.words[:count], self.reasoning, self.ending, tuple(calls))


def compose(
    texts: Sequence[str],
    model: str,
    steering: Steering,
    *,
    bound: int | None,
    thoughts: int,
    task: Task | None = None,
    slip: Slip | None = None,
) -> Answer:
    """The answer to the last of these texts. `bound` limits reasoning, words and arguments
    together; the reasoning comes first.

    `thoughts` is the number of reasoning tokens, unless steered.
    """
    if steering.blocked:
        return Answer((), (), "blocked")
    texts, said = projects.asked_before(texts)
    words, calls = _answered(texts, model, steering, task, slip)
    words = _rest(words, said)
    if steering.reasoning_tokens is not None:
        thoughts = steering.reasoning_tokens
    elif task is not None and calls:
        thoughts = max(thoughts, task.thoughts)
    reasoning = _exactly(thoughts, tokens(_THOUGHT))
    answer = Answer(words, reasoning, "calls" if calls else "stop", calls)
    if steering.refusal:
        answer = replace(answer, ending="refusal")
    cut = steering.cut
    if slip is not None and slip.mistake == "cut":
        cut = max(1, int(slip.place * len(answer.spoken)))
    if cut is not None and len(answer.spoken) > cut:
        answer = replace(answer.cut(cut), ending="length")
    if bound is None or bound >= len(reasoning) + len(answer.spoken):
        return answer
    reasoning = reasoning[:bound]
    answer = replace(answer, reasoning=reasoning).cut(bound - len(reasoning))
    return answer if steering.refusal else replace(answer, ending="length")


def _rest(words: tuple[str, ...], said: str) -> tuple[str, ...]:
    """What follows on what was said before the answer was cut."""
    text = "".join(words)
    return tokens(text[len(said) :]) if said and text.startswith(said) else words


def _answered(
    texts: Sequence[str],
    model: str,
    steering: Steering,
    task: Task | None,
    slip: Slip | None,
) -> tuple[tuple[str, ...], tuple[FunctionCall, ...]]:
    """The words and the calls."""
    if steering.competence is not None:
        turn = turns.turn_of(steering.competence, texts, slip, task)
        if turn is not None:
            return tokens(turn.text), turn.calls
    calls = decisions.calls_of(task, texts, steering, model) if task else ()
    return _words(texts, model, steering, task, calls), calls


def _words(
    texts: Sequence[str],
    model: str,
    steering: Steering,
    task: Task | None,
    calls: Sequence[FunctionCall],
) -> tuple[str, ...]:
    text = steering.text
    if text is not None:
        text = projects.with_mark(text, texts)
    elif task is not None and calls and steering.tokens is None:
        text = decisions.announcement(task, calls)
    else:
        silent = steering.refusal and steering.tokens is None
        text = "" if silent else _asked_for(task, texts) or _usual(texts, model)
    words = tokens(text)
    return words if steering.tokens is None else _exactly(steering.tokens, words)


def _asked_for(task: Task | None, texts: Sequence[str]) -> str:
    """What was asked for besides prose: an answer in JSON, results, what is in pictures."""
    if task is None:
        return ""
    question = texts[-1] if texts else ""
    told = decisions.said_of(task)
    if task.output is None:
        return told
    return json_answers.written(task.output, texts, question, told)


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
