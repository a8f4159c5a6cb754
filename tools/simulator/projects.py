"""Answers to the prompts of a project run: plan, work, review, reply and final text.

A plan follows one of three outlines, by the words of the goal. The answers are what a person might
take for real ones: files have contents of their kind, and the first review of prices or costs asks
for a change, which the next attempt makes.
"""

import json
import re
from collections.abc import Sequence
from itertools import cycle
from typing import Any, Literal

Kind = Literal["plan", "work", "review", "reply", "final"]

_SECTION = re.compile(r"<(\w+)[^<>]*>\n(.*?)\n</\1>", re.DOTALL)
_MARK = re.compile(r"^@@SUMMARY (\S+)$|The mark is (\S+) now\.|`@@END (\S+)`", re.MULTILINE)
_BY_CALLS = "You work on the repository by calling functions."
_ROSTER = re.compile(r"^(\S+): by ([^,\n]+), price", re.MULTILINE)
_MOST = re.compile(r"At most (\d+) subtasks")
_FILES = re.compile(r"^Files to write: (.*)$", re.MULTILINE)
_MONEY = re.compile(r"\b(?:price|cost|budget)", re.IGNORECASE)
_GO_ON = "The output limit has cut your answer there."
_REVISED = "Every price names its tax."
_REVISION = "The mark is "

# By the first word of a goal that they match: key, title, dependencies, files, what is delivered.
_Part = tuple[str, str, tuple[str, ...], tuple[str, ...], str]
_SHOP: tuple[_Part, ...] = (
    ("range", "The range of goods", (), (), "a table of goods"),
    ("texts", "Texts of the shop", (), ("texts.md",), "short texts"),
    ("prices", "Prices and shipping costs", ("range",), ("prices.csv",), "a price list"),
    ("page", "The front page", ("range", "texts"), ("index.html", "style.css"), "a page"),
    ("basket", "The basket", ("prices", "page"), ("basket.js",), "a script"),
    ("check", "A test plan", ("basket",), (), "a list of tests"),
)
_TRIP: tuple[_Part, ...] = (
    ("route", "The route", (), (), "stages by day"),
    ("stays", "Where to stay", ("route",), (), "one place for each night"),
    ("costs", "Costs", ("route", "stays"), ("costs.csv",), "a table of costs"),
    ("packing", "What to pack", ("route",), (), "a list"),
)
_REPORT: tuple[_Part, ...] = (
    ("facts", "What is known", (), (), "facts with their sources"),
    ("views", "Views and objections", (), (), "a comparison"),
    ("figures", "Figures", ("facts",), ("figures.csv",), "a table"),
    ("advice", "What to do", ("facts", "views", "figures"), (), "a recommendation"),
)
_OUTLINES = (
    (re.compile(r"\b(?:shop|store|site|page|app)\b", re.IGNORECASE), _SHOP),
    (re.compile(r"\b(?:trip|travel|journey|holiday|tour)\b", re.IGNORECASE), _TRIP),
)
_CONTENTS = {
    "csv": "item,amount,note\nfirst,12.50,with tax\nsecond,8.00,with tax\n",
    "html": '<!doctype html>\n<html lang="en">\n<head><title>{title}</title></head>\n'
    "<body>\n<h1>{title}</h1>\n<p>Welcome.</p>\n</body>\n</html>\n",
    "css": "body {{ font-family: sans-serif; margin: 2rem; }}\n",
    "js": "export const basket = [];\n\nexport function add(item) {{\n  basket.push(item);\n}}\n",
    "json": '{{"title": "{title}"}}\n',
    "md": "# {title}\n\nShort, friendly, and true.\n",
    "py": '"""{title}."""\n',
    "toml": 'title = "{title}"\n',
}


def asked_before(texts: Sequence[str]) -> tuple[Sequence[str], str]:
    """A conversation without the request to go on with a cut answer, and what there is of that."""
    if len(texts) > 2 and texts[-1].startswith(_GO_ON):
        return texts[:-2], texts[-2]
    return texts, ""


def kind_of(texts: Sequence[str]) -> Kind | None:
    """The kind of step that a conversation asks for, or None for any other conversation."""
    texts, _ = asked_before(texts)
    if not texts:
        return None
    last = texts[-1]
    if calls_functions(texts):
        return "work"
    if '"subtasks": [' in texts[0] and "You plan the work" in texts[0]:
        return "plan"
    if '"verdict": "accept" or "revise"' in last:
        return "review"
    if '"reply": ' in texts[0] and "<plan>" in texts[0]:
        return "reply"
    if _MARK.search(last) and "<task>" in texts[0]:
        return "work"
    return "final" if "Make one result of their parts" in last else None


def calls_functions(texts: Sequence[str]) -> bool:
    """Is this the conversation of an author that works by calls of functions?"""
    return bool(texts) and "<task>" in texts[0] and _BY_CALLS in texts[0]


def is_turn(texts: Sequence[str]) -> bool:
    """Is it a further turn of an author that calls functions, and no new answer?"""
    return calls_functions(texts) and len(texts) > 1 and _REVISION not in texts[-1]


def task_of(texts: Sequence[str]) -> str:
    """The title of the subtask that a conversation is about; empty where it is about none."""
    task = _sections(texts[0]).get("task", "") if texts else ""
    return task.split("\n", 1)[0]


def answer(kind: Kind, texts: Sequence[str], model: str) -> str:
    """The answer to a step."""
    match kind:
        case "plan":
            return _plan(texts[0])
        case "work":
            return _work(texts, model)
        case "review":
            return _review(texts[-1])
        case "reply":
            return _reply(texts[0])
        case "final":
            return _final(texts[-1])


def parts_of_plan(plan: str) -> dict[str, dict[str, Any]]:
    """The subtasks that a planner is shown, by key, each with its fields."""
    found = [json.loads(text) for tag, text in _SECTION.findall(plan) if tag == "subtask"]
    return {part["key"]: {"status": "", **part} for part in found}


def with_mark(text: str, texts: Sequence[str]) -> str:
    """A steered text of a work step: `{mark}` in it is the mark of the step."""
    return text.replace("{mark}", _mark(texts)) if "{mark}" in text else text


def _plan(prompt: str) -> str:
    goal = _sections(prompt).get("goal", "")
    outline = next((parts for words, parts in _OUTLINES if words.search(goal)), _REPORT)
    most = _MOST.search(prompt)
    parts = outline[: int(most[1])] if most else outline
    keys = {part[0] for part in parts}
    models = _spread(prompt)
    subtasks = [
        {
            "key": key,
            "title": title,
            "instructions": f"Deliver {output} for this goal: {_first_words(goal)}",
            "acceptance": [f"It delivers {output}.", "It says what is assumed."],
            "depends_on": [each for each in after if each in keys],
            "model": next(models),
            "output": output,
            "writes": list(files),
            **({"reads": ["README.md"]} if "<repository>" in prompt else {}),
        }
        for key, title, after, files, output in parts
    ]
    plan: dict[str, Any] = {
        "title": _first_words(goal),
        "summary": f"{len(parts)} parts, several of them side by side.",
        "subtasks": subtasks,
        "final": {"instructions": "Introduce the parts, and join them in their order."},
    }
    return f"Here is the plan.\n\n```json\n{json.dumps(plan, indent=2)}\n```"


def _spread(prompt: str) -> "cycle[str | None]":
    """Models of the list, one vendor after the other."""
    by_vendor: dict[str, list[str]] = {}
    for model, vendor in _ROSTER.findall(_sections(prompt).get("models", "")):
        by_vendor.setdefault(vendor, []).append(model)
    return cycle([models[0] for models in by_vendor.values()] or [None])


def task_text(texts: Sequence[str]) -> str:
    """What an author is asked to do."""
    return _sections(texts[0]).get("task", "")


def files_to_write(texts: Sequence[str]) -> dict[str, str]:
    """The files that an author is to write, with contents of their kind."""
    task = task_text(texts)
    title, paths = task.split("\n", 1)[0], _FILES.search(task)
    return {
        path: _CONTENTS.get(path.rpartition(".")[2], "{title}\n").format(title=title)
        for path in (paths[1].split(", ") if paths else [])
    }


def handed_in(texts: Sequence[str], model: str) -> dict[str, str]:
    """What an author hands in beside its files: the result, and a summary."""
    return {"result": "\n".join(_report(texts, model)), "summary": _summary(texts)}


def _work(texts: Sequence[str], model: str) -> str:
    mark = _mark(texts)
    lines = _report(texts, model)
    for path, content in files_to_write(texts).items():
        lines += [f"@@FILE {mark} create {path}", content.rstrip("\n"), f"@@END {mark}"]
    lines += [f"@@SUMMARY {mark}", _summary(texts), f"@@END {mark}"]
    return "\n".join(lines)


def _report(texts: Sequence[str], model: str) -> list[str]:
    """The lines of a result."""
    task, points = task_text(texts), _sections(texts[0]).get("done_when", "")
    is_revision = any(_REVISION in text for text in texts[1:])
    return [
        f"## {task.split(chr(10), 1)[0]}",
        f"{_first_words(task.partition(chr(10))[2])}",
        "",
        *(f"- {point.removeprefix('- ')} Done." for point in points.split("\n") if point),
        *([_REVISED] if is_revision else []),
        "",
        "### Assumptions",
        f"Nothing is known of the world here: {model} is simulated, and says so.",
    ]


def _summary(texts: Sequence[str]) -> str:
    return f"{task_text(texts).split(chr(10), 1)[0]} is done."


def _review(prompt: str) -> str:
    sections = _sections(prompt)
    task, attempt = sections.get("task", ""), sections.get("attempt", "")
    points = [line.removeprefix("- ") for line in sections.get("done_when", "").split("\n")]
    is_good = not _MONEY.search(task.split("\n", 1)[0]) or _REVISED in attempt
    review = {
        "points": [{"point": point, "passed": True, "issue": ""} for point in points],
        "issues": [] if is_good else ["Say of each price whether tax is included."],
        "verdict": "accept" if is_good else "revise",
    }
    return json.dumps(review, indent=2)


def _reply(prompt: str) -> str:
    sections = _sections(prompt)
    messages = _sections(sections.get("messages", "")).get("message", "")
    parts = parts_of_plan(sections.get("plan", ""))
    going_on = [key for key, part in parts.items() if part["status"] == "running"]
    reply = {
        "reply": f"Understood: {_first_words(messages)}",
        "notes": [{"subtask": key, "text": messages} for key in going_on],
    }
    return json.dumps(reply, indent=2)


def _final(prompt: str) -> str:
    goal = _sections(prompt).get("goal", "")
    parts = re.findall(
        r"<result subtask=\"[^\"]*\" title=\"([^\"]*)\">\n(.*?)\n</result>", prompt, re.DOTALL
    )
    lines = [f"# {_first_words(goal)}", "", f"This is made of {len(parts)} parts.", ""]
    for _, body in parts:
        lines += [body, ""]
    return "\n".join(lines)


def _mark(texts: Sequence[str]) -> str:
    """The newest mark that a conversation names."""
    found = (_MARK.search(text) for text in reversed(texts))
    mark = next(filter(None, found), None)
    return next(filter(None, mark.groups())) if mark else ""


def _sections(prompt: str) -> dict[str, str]:
    """The sections of a prompt by their tags, of several with one tag the last."""
    return dict(_SECTION.findall(prompt))


def _first_words(text: str) -> str:
    words = [word for word in text.split() if not word.startswith("@")]
    return " ".join(words[:12]).rstrip(".,;:") or "The goal"
