"""The author of a part who works on a repository by calls of functions: it searches and reads what
it needs, edits, and finishes. What it knows of files stands in the prompt or in results."""

import re
from collections.abc import Iterator, Sequence

from simulator.competence.authors import parts_of, spoiled, text_of
from simulator.competence.files import Written, files_of
from simulator.competence.knowledge import Knowledge, Part, SymbolRead
from simulator.competence.shown import Shown
from simulator.competence.slips import Slip
from simulator.functions import FunctionCall, Task

_READ = re.compile(r"(\S+), lines (\d+) to (\d+) of \d+:\n")
_FOUND = re.compile(r"^(\S+?):\d+: ", re.MULTILINE)


def next_calls(
    knowledge: Knowledge, texts: Sequence[str], task: Task, slip: Slip | None
) -> tuple[FunctionCall, ...]:
    """The calls of the next turn, of the functions that are offered."""
    author = _Author(knowledge, texts, [result.text for result in task.results])
    functions = task.offer.functions if task.offer is not None else ()
    if {function.name for function in functions} != {"finish"}:
        for calls in (author.searches(), author.reads(), author.changes(slip)):
            if calls:
                return tuple(FunctionCall.of(name, arguments) for name, arguments in calls)
    return (FunctionCall.of("finish", author.result()),)


_Call = tuple[str, dict[str, str]]


class _Author:
    """One turn of the conversation."""

    def __init__(self, knowledge: Knowledge, texts: Sequence[str], results: Sequence[str]) -> None:
        """`results` are those since the last question, which is the last of the texts; some of the
        others are results as well."""
        others = [text for text in texts[1:] if not any(result in text for result in results)]
        self._knowledge = knowledge
        self._heard = "\n".join([*others, *results])
        self._shown = Shown([*texts[:1], *others, *results], hears_all=True)
        self._read = dict(_contents(self._heard))
        self._contents = {**self._shown.files, **self._read}
        self._parts = parts_of(knowledge, self._shown)
        self._facts = self._shown.facts(knowledge)

    def searches(self) -> list[_Call]:
        """For words that are renamed, symbols, and facts that nobody has told."""
        calls: list[_Call] = []
        for part in self._parts:
            for word in _renamed_words(part):
                if f"found for the text {word!r}" not in self._heard:
                    calls.append(("search", {"text": word}))
            for read in part.reads:
                if isinstance(read, SymbolRead) and not self._has_symbol(read.symbol):
                    calls.append(("search", {"text": read.symbol, "kind": "symbol"}))
        return calls

    def _has_symbol(self, symbol: str) -> bool:
        is_told = f"found for the symbol {symbol!r}" in self._heard
        return is_told or any(symbol in content for content in self._contents.values())

    def reads(self) -> list[_Call]:
        """Of files that are edited, or that the part is made of, and were not shown."""
        wanted: list[str] = []
        for part in self._parts:
            wanted += [file.path for file in part.files if file.old is not None]
            wanted += [each for each in part.reads if isinstance(each, str)]
            if _renamed_words(part) or any(not isinstance(each, str) for each in part.reads):
                wanted += _FOUND.findall(self._heard)
        paths = [path for path in dict.fromkeys(wanted) if self._is_to_be_read(path)]
        return [("read_file", {"path": path}) for path in paths]

    def _is_to_be_read(self, path: str) -> bool:
        if f"{path} was not changed" in self._heard and path not in self._read:
            return True
        is_gone = f"There is no file {path}." in self._heard
        return path not in self._contents and not is_gone and self._shown.has_path(path)

    def changes(self, slip: Slip | None) -> list[_Call]:
        """The next edit of each file, and the files that are written."""
        calls: list[_Call] = []
        for file in self._files(slip):
            if file.edits:
                done = len(re.findall(rf"(?<!\S){re.escape(file.path)} is changed\.", self._heard))
                for old, new in file.edits[done : done + 1]:
                    calls.append(("edit_file", {"path": file.path, "old": old, "new": new}))
            elif not self._is_written(file):
                calls.append(("write_file", {"path": file.path, "content": f"{file.content}\n"}))
        return calls

    def _files(self, slip: Slip | None) -> list[Written]:
        files = [
            file
            for part in self._parts
            for file in files_of(part, self._knowledge, self._shown, self._contents, self._facts)
        ]
        was_refused = "was not changed" in self._heard
        return files if slip is None or was_refused else spoiled(files, slip)

    def _is_written(self, file: Written) -> bool:
        said = rf"(?<!\S){re.escape(file.path.lstrip('/'))} is (?:replaced|created), with"
        is_same = self._contents.get(file.path, "").rstrip("\n") == file.content.rstrip("\n")
        return is_same or re.search(said, self._heard) is not None

    def result(self) -> dict[str, str]:
        """What is handed in."""
        title = self._parts[0].title if self._parts else self._knowledge.title
        text = text_of(self._parts, self._knowledge, self._facts)
        return {"result": text, "summary": f"{title}: done."}


def _renamed_words(part: Part) -> list[str]:
    return [file.rename.old for file in part.files if file.rename is not None]


def _contents(heard: str) -> Iterator[tuple[str, str]]:
    """The files that were read, without the numbers of their lines."""
    for found in _READ.finditer(heard):
        first, last = int(found[2]), int(found[3])
        lines = heard[found.end() :].split("\n", last - first + 1)[: last - first + 1]
        yield found[1], "\n".join(line.partition("\t")[2] for line in lines)
