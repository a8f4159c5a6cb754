"""Which functions the simulator calls, and what it says of their results.

- `tool_choice` none: no call. Required or named: a call. Auto: the functions whose name shares a
  word with the question; where none does, the one whose description shares most.
- One function is called for each thing of a list ("Paris and Berlin") where it takes only one.
- Arguments are of what the question names. Where a call is forced and it names nothing, they are of
  what was said before.
- A call that has its result is not made again; when all have theirs, the results are quoted.
- A function whose name begins with `final`, or that the prompt before the question says to call,
  is called last, with the answer. Where a call is required and all others have their results, that
  is one that was not called.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from simulator import json_answers, project_authors, projects, schemas
from simulator.findings import find, joined_in, named_in
from simulator.functions import Function, FunctionCall, Offer, Result, Schema, Task
from simulator.steering import SteeredCall, Steering

_LONGEST_QUOTE = 2000  # characters of a result
_RECENT = 4  # messages
_STEM = 5  # letters: words are the same that begin with as many
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")
_TOLD = re.compile(r"\bcall(?:ing)? the (?:function|tool) [`'\"]?([\w-]+)")
_COMMON = re.compile(
    r"about|all|and|any|are|ask|call|can|for|from|function|get|give|has|have|her|him|his|how"
    r"|into|its|let|make|more|new|not|now|one|our|out|please|run|set|should|some|tell|than|that"
    r"|the|their|them|then|there|they|this|tool|use|used|user|using|want|was|what|when|where"
    r"|which|who|will|with|would|you|your|return|returns|result|value|values|input|given",
    re.IGNORECASE,
)


def calls_of(
    task: Task, texts: Sequence[str], steering: Steering, model: str = ""
) -> tuple[FunctionCall, ...]:
    """The calls that the model asks for now; none where it answers in words. The last of the
    texts is the question.

    Steered calls are made until they have results, or for ever; a steered text is an answer.
    """
    results = () if steering.calls_forever else task.results
    scripted = (steering.calls or ())[len(task.results) :]
    if scripted:
        calls = [_steered(scripted[0])]
    elif steering.tool_calls is not None and not (results and projects.calls_functions(texts)):
        calls = [] if results else [_steered(call) for call in steering.tool_calls]
    elif steering.refusal or steering.text is not None or steering.tokens is not None:
        calls = []
    else:
        open_task = replace(task, results=results)
        by_author = project_authors.calls_of(texts, open_task, model)
        calls = _decided(open_task, texts) if by_author is None else by_author
    if steering.bad_arguments:
        calls = [FunctionCall.of(call.name, _broken(call.text)) for call in calls]
    return tuple(calls)


def announcement(task: Task, calls: Sequence[FunctionCall]) -> str:
    """What the model says before it calls what it decided to; empty where it says nothing, as in
    an answer that has a form."""
    if not task.speaks_first or task.output is not None:
        return ""
    if task.offer is None or task.offer.choice != "auto":
        return ""
    return f"I will call {' and '.join(dict.fromkeys(call.name for call in calls))}."


def _steered(call: SteeredCall) -> FunctionCall:
    return FunctionCall.of(call.name, call.arguments)


def _broken(arguments: str) -> str:
    """The first half of the arguments, which is no JSON."""
    return arguments[: max(1, len(arguments) // 2)]


def _decided(task: Task, texts: Sequence[str]) -> list[FunctionCall]:
    offer, results = task.offer, task.results
    question = texts[-1] if texts else ""
    if offer is None or offer.choice == "none":
        return []
    if offer.choice == "named":
        wanted = [function for function in offer.functions if function.name == offer.named]
        shaped = [_shaped(each, texts) for each in wanted]
        return _limited(_calls_for(shaped, _subject(texts)), offer)
    told = _TOLD.findall("\n".join(texts[:-1]))
    final = [each for each in offer.functions if _is_final(each.name) or each.name in told]
    working = [each for each in offer.functions if each not in final]
    matching = _matching(working, question)
    if offer.choice == "required" and not matching and not final:
        matching, question = working[:1], _subject(texts)
    planned = _calls_for(matching, question)
    if calls := _unanswered(planned, results):
        return _limited(calls, offer)
    finished = any(_is_final(result.name) for result in results)
    if final and (offer.choice == "required" or not finished):
        return [_final_call(_fitting(final, question), question, task)]
    if offer.choice != "required":
        return []
    called = {result.name for result in results}
    if left := [each for each in working if each.name not in called]:
        return [_final_call(_fitting(left, question), question, task)]
    return _limited(planned, offer)


def _subject(texts: Sequence[str]) -> str:
    """The question or, where it names nothing, what was said before it too."""
    question = texts[-1] if texts else ""
    found = find(question)
    if found.names or found.numbers:
        return question
    return "\n".join(texts[1:][-_RECENT:]) or question


def _shaped(function: Function, texts: Sequence[str]) -> Function:
    """A function of any object has one as the prompt shows it."""
    takes_any = "properties" not in function.schema
    schema = json_answers.shown(texts) if takes_any else None
    return replace(function, schema=schema) if schema else function


def _quoted(results: Sequence[Result]) -> str:
    """A sentence for each result."""
    lines = []
    for result in results:
        text = result.text.strip()[:_LONGEST_QUOTE] or "nothing"
        lines.append(f"{result.name or 'The tool'} says: {text}")
    return "\n".join(lines)


def said_of(task: Task) -> str:
    """What the model says of the results and the pictures; empty where there are none."""
    results = [result for result in task.results if not _is_final(result.name)]
    told = [_quoted(results)] if results else []
    return "\n".join(told + [sight.sentence for sight in task.sights])


def _limited(calls: list[FunctionCall], offer: Offer) -> list[FunctionCall]:
    return calls if offer.parallel else calls[:1]


def _unanswered(planned: list[FunctionCall], results: Sequence[Result]) -> list[FunctionCall]:
    """The planned calls without as many of each function as have results. A result of nobody
    counts for them all."""
    if any(not result.name for result in results):
        return []
    answered = Counter(result.name for result in results)
    left = []
    for call in planned:
        if answered[call.name] > 0:
            answered[call.name] -= 1
        else:
            left.append(call)
    return left


def _matching(functions: Sequence[Function], question: str) -> list[Function]:
    asked = _stems(question)
    by_name = [each for each in functions if asked & _stems(each.name)]
    if by_name:
        return by_name
    shared = [len(asked & _stems(each.description)) for each in functions]
    most = max(shared, default=0)
    return (
        [each for each, count in zip(functions, shared, strict=True) if count == most][:1]
        if most
        else []
    )


def _calls_for(functions: Sequence[Function], question: str) -> list[FunctionCall]:
    """Calls of these functions, each of what the question names behind its word."""
    calls = []
    parts = _parts(functions, question) if len(functions) > 1 else [question] * len(functions)
    for function, part in zip(functions, parts, strict=True):
        things: list[str | None] = [*joined_in(part)] if _takes_one(function) else []
        for thing in things or [None]:
            findings = find(part, None if thing is None else [thing])
            findings.whole = " ".join(question.split())[:200]
            arguments = schemas.value_of(_form(function), findings)
            calls.append(FunctionCall.of(function.name, arguments))
    return calls


def _parts(functions: Sequence[Function], question: str) -> list[str]:
    """For each function the part of the question from its word to that of the next; the whole
    question where that part names nothing."""
    places = [_place(function, question) for function in functions]
    parts = []
    for place in places:
        end = min((other for other in places if other > place), default=len(question))
        part = question[place:end]
        parts.append(part if named_in(part) or re.search(r"\d", part) else question)
    return parts


def _place(function: Function, question: str) -> int:
    stems = _stems(function.name) or _stems(function.description)
    words = re.finditer(r"\w+", question)
    return next((word.start() for word in words if _stems(word[0]) & stems), 0)


def _takes_one(function: Function) -> bool:
    """Has the function one free text among its arguments, and so needs a call for each thing?"""
    properties = function.schema.get("properties") or {}
    wanted = function.schema.get("required") or list(properties)[:1]
    free = [
        name
        for name in wanted
        if isinstance(properties.get(name), dict)
        and properties[name].get("type") == "string"
        and not properties[name].keys() & {"enum", "const", "format"}
    ]
    lists = [name for name in wanted if (properties.get(name) or {}).get("type") == "array"]
    return len(free) == 1 and not lists


def _final_call(function: Function, question: str, task: Task) -> FunctionCall:
    answer = said_of(task) or f"You asked: “{' '.join(question.split())[:200]}”"
    text = "\n".join([question, *(result.text for result in task.results)])
    findings = find(text, answer=answer)
    return FunctionCall.of(function.name, schemas.value_of(_form(function), findings))


def _fitting(final: Sequence[Function], question: str) -> Function:
    """Of several last functions the one whose name or description fits best."""
    asked = _stems(question)
    return max(final, key=lambda each: len(asked & _stems(f"{each.name} {each.description}")))


def _form(function: Function) -> Schema:
    return {"type": "object"} | dict(function.schema)


def _is_final(name: str) -> bool:
    return name.lower().startswith("final")


def _stems(text: str) -> frozenset[str]:
    """The first letters of the words that say something."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(
        word[:_STEM] for word in words if len(word) > 2 and not _COMMON.fullmatch(word)
    )
