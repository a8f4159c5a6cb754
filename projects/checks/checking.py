"""The faults of files that an attempt has written."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from posixpath import join, normpath, splitext
from typing import Final

import msgspec
from msgspec import Struct

from common.confined_answers import ask
from integrations.workspaces.filetypes import is_generated_folder
from projects.checks.faults import Found
from projects.checks.kinds import GRAMMARS, is_template, kind_of
from projects.outputs import FileFault

MAX_FAULTS: Final = 20
# For all files of an attempt. Ordinary ones take a tenth of a second.
SECONDS: Final = 15.0
_MAX_BYTES: Final = 8_000_000

_BOM: Final = "\ufeff"
_PAGES: Final = frozenset({".html", ".htm"})

_decode = msgspec.json.Decoder(Found).decode


class Written(Struct, frozen=True):
    """A file with its text, and that which it had before; None where it is new."""

    path: str
    text: str
    before: str | None = None


def faults_of(files: Sequence[Written], paths: Collection[str]) -> list[FileFault]:
    """What is wrong with files, in at most `MAX_FAULTS` sentences. `paths` are all that there are
    or will be. A file that was faulty before is not judged, and links that led nowhere before are
    none of its author's. Blocks for some time, at most `SECONDS` twice."""
    found = _found({each.path: each.text for each in files})
    suspects = {each.path: each.before for each in files if each.path in found and each.before}
    before = _found(suspects) if suspects else {}
    known = _Paths(paths)
    faults: list[FileFault] = []
    for path in sorted(found):
        was = before.get(path, Found())
        messages = {(each.line, each.message) for each in found[path].faults if not was.faults}
        for link in found[path].links:
            is_old = link.target in {each.target for each in was.links}
            if not is_old and known.lacks(path, link.target):
                messages.add((link.line, f'the link "{link.target}" leads to no file.'))
        faults += [FileFault(path, f"Line {line}: {text}") for line, text in sorted(messages)]
    return faults[:MAX_FAULTS]


def _found(files: Mapping[str, str]) -> dict[str, Found]:
    """What the checks find, by path; without the files that nothing is wrong with. The small ones
    are looked at first, as far as there is room for all of them."""
    kinds: dict[str, str] = {}
    questions: list[bytes] = []
    room = _MAX_BYTES
    for path, text in sorted(files.items(), key=lambda each: len(each[1])):
        kind = kind_of(path)
        if kind is None or not text.strip() or is_template(kind, text):
            continue
        question = f"{kind}\0{path}\0{text.removeprefix(_BOM)}".encode()
        room -= len(question)
        if room < 0:
            break
        kinds[path] = kind
        questions.append(question)
    grammars = {each for kind in kinds.values() for each in GRAMMARS.get(kind, ())}
    answers = ask("projects.checks.checker", sorted(grammars), questions, seconds=SECONDS)
    found = {
        path: _decode(answer)
        for path, answer in zip(kinds, answers, strict=True)
        if answer is not None
    }
    return {path: each for path, each in found.items() if each.faults or each.links}


class _Paths:
    """The files of a repository and their folders, as links name them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._names: set[str] = set()
        for path in paths:
            parts = path.lower().split("/")
            self._names |= {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}

    def lacks(self, source: str, target: str) -> bool:
        """Whether a link in the file `source` leads nowhere, for sure: neither out of the
        repository, nor to a page that is made of a file, nor to what is generated."""
        path = normpath(join(source.rpartition("/")[0], target)).lower()
        *folders, name = path.split("/")
        stem, end = splitext(path)
        if path.startswith("..") or not end or any(map(is_generated_folder, folders)):
            return False
        pages = (f"{stem}.md", f"{stem}.mdx", f"{stem}.rst") if end in _PAGES else ()
        return path != "." and name != "" and self._names.isdisjoint({path, *pages})
