"""How an author of a project run works on a repository: by the functions that it is offered.

It does what the prompt and the results say, and knows nothing else: it lists the files, reads those
that its task names and that it was not shown, writes those that it is to write, and finishes. What
was refused it does not try again.
"""

import re
from collections.abc import Sequence

from simulator import projects
from simulator.functions import FunctionCall, Offer, Task

_SHOWN = re.compile(r'^<file name="([^"]+)">\n(?!\[)', re.MULTILINE)
_NAMED = re.compile(r"[\w./-]*\w\.\w+")


def calls_of(texts: Sequence[str], task: Task, model: str) -> list[FunctionCall] | None:
    """The calls of the next turn; None where the request is not for such an author."""
    if task.offer is None or not projects.calls_functions(texts):
        return None
    return list(_next(texts, task, task.offer, model))


def _next(texts: Sequence[str], task: Task, offer: Offer, model: str) -> Sequence[FunctionCall]:
    names = {function.name for function in offer.functions}
    results = [(result.name, result.text) for result in task.results]
    done = {name for name, _ in results}
    finish = FunctionCall.of("finish", projects.handed_in(texts, model))
    if names == {"finish"} or "write_file" in done:
        return [finish]
    if "list_files" not in done:
        return [FunctionCall.of("list_files", {})]
    if "read_file" not in done and (wanted := _to_read(texts, results)):
        return [FunctionCall.of("read_file", {"path": path}) for path in wanted]
    written = [
        FunctionCall.of("write_file", {"path": path, "content": content})
        for path, content in projects.files_to_write(texts).items()
    ]
    return [*written, finish]


def _to_read(texts: Sequence[str], results: Sequence[tuple[str, str]]) -> list[str]:
    """The files of the list that the task names, and that were not shown."""
    listed = {line for name, text in results if name == "list_files" for line in text.split("\n")}
    shown = set(_SHOWN.findall(texts[0]))
    named = dict.fromkeys(_NAMED.findall(projects.task_text(texts)))
    return [path for path in named if path in listed and path not in shown]
