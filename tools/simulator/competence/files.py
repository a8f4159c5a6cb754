"""The files that an author writes: what they become, by what is shown of them."""

import csv
import io
import json
import re
from dataclasses import dataclass
from datetime import datetime

from simulator.competence.knowledge import (
    Cleaning,
    Knowledge,
    KnownFile,
    Part,
    Renaming,
    Rule,
    Translation,
)
from simulator.competence.shown import Shown, filled

Table = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Written:
    """A file: its whole content, or passages of it that are replaced, each `(old, new)`."""

    path: str
    content: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    is_new: bool = False


def files_of(
    part: Part, knowledge: Knowledge, shown: Shown, contents: dict[str, str], facts: dict[str, str]
) -> list[Written]:
    """The files of a part. `contents` are those that the author has seen."""
    written: list[Written] = []
    for known in part.files:
        path = known.path if shown.has_path(known.path) else known.path.rpartition("/")[2]
        if known.rename is not None:
            written += _renamed(known.rename, contents, path)
        elif known.old is not None:
            edited = _edited(known, path, knowledge, contents, facts)
            written += [edited] if edited is not None else []
        else:
            content = _made(known, knowledge, shown, contents, facts)
            written.append(Written(path, content, is_new=path not in contents))
    return _joined(written)


def _joined(written: list[Written]) -> list[Written]:
    """Edits of one file together."""
    by_path: dict[str, Written] = {}
    for file in written:
        before = by_path.get(file.path)
        both = before is not None and before.edits and file.edits
        if before is not None and both:
            file = Written(file.path, edits=(*before.edits, *file.edits))  # noqa: PLW2901
        by_path[file.path] = file
    return [*by_path.values()]


def _edited(
    known: KnownFile,
    path: str,
    knowledge: Knowledge,
    contents: dict[str, str],
    facts: dict[str, str],
) -> Written | None:
    """An edit of the file as it was shown; None where that has been made. Who has not seen it
    writes it anew, from nothing."""
    old = (known.old or "").strip("\n")
    new = filled(known.new, knowledge, facts).strip("\n")
    content = contents.get(path)
    if content is None:
        return Written(path, new, is_new=True)
    if new not in content and old in content:
        return Written(path, edits=((old, new),))
    return None


def _renamed(renaming: Renaming, contents: dict[str, str], path: str) -> list[Written]:
    word = re.compile(rf"\b{re.escape(renaming.old)}\b")
    renamed = [
        Written(each, word.sub(renaming.new, content))
        for each, content in contents.items()
        if each.endswith(".py") and word.search(content)
    ]
    return renamed or [Written(path, f"def {renaming.new}() -> None: ...\n", is_new=True)]


def _made(
    known: KnownFile,
    knowledge: Knowledge,
    shown: Shown,
    contents: dict[str, str],
    facts: dict[str, str],
) -> str:
    if known.clean is not None:
        return _cleaned(known.clean, shown, contents.get(known.clean.source))
    if known.translate is not None:
        return _translated(known.translate, contents)
    return filled(known.content or "", knowledge, facts).strip("\n")


def _cleaned(cleaning: Cleaning, shown: Shown, source: str | None) -> str:
    if source is None:
        return "name,email\nJohn Doe,john@example.com"
    rows: Table = list(csv.DictReader(io.StringIO(source)))
    columns = list(rows[0]) if rows else []
    for rule in cleaning.rules:
        if re.search(rule.says, shown.text):
            rows = _ruled(rule, rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")


def _ruled(rule: Rule, rows: Table) -> Table:
    column = rule.column
    match rule.step:
        case "strip":
            return [{name: value.strip() for name, value in row.items()} for row in rows]
        case "lower":
            return [{**row, column: row[column].lower()} for row in rows]
        case "drop_empty":
            return [row for row in rows if row[column].strip()]
        case "iso_date":
            return [{**row, column: _iso(row[column])} for row in rows]
        case "latest":
            latest: dict[str, dict[str, str]] = {}
            for row in rows:
                before = latest.get(row[column])
                if before is None or before[rule.by] < row[rule.by]:
                    latest[row[column]] = row
            return [*latest.values()]
        case "sort":
            return sorted(rows, key=lambda row: row[column])


def _iso(day: str) -> str:
    try:
        return datetime.strptime(day.strip(), "%d.%m.%Y").date().isoformat()  # noqa: DTZ007 - a day
    except ValueError:
        return day


def _translated(translation: Translation, contents: dict[str, str]) -> str:
    """Texts without a word in the glossary stay as they are."""
    source = contents.get(translation.source)
    texts = json.loads(source) if source is not None else {"hello": "Hello", "bye": "Goodbye"}
    rows = csv.reader(io.StringIO(contents.get(translation.glossary, "")))
    words = {row[0]: row[1] for row in rows if len(row) == 2}
    translated = {key: words.get(text, text) for key, text in texts.items()}
    return json.dumps(translated, indent=2, ensure_ascii=False)
