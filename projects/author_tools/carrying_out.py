"""Carries out the calls of an author on its working copy."""

from projects.author_tools.arguments import (
    Arguments,
    BadArguments,
    DeleteFile,
    EditFile,
    Finish,
    ListFiles,
    MoveFile,
    ReadFile,
    Search,
    WriteFile,
    path_of,
    read_arguments,
)
from projects.author_tools.listing import list_files
from projects.author_tools.reading import read_lines
from projects.author_tools.results import Carried, refused
from projects.author_tools.searching import search
from projects.author_tools.working_copy import Refused, WorkingCopy


def carry_out(copy: WorkingCopy, name: str, arguments: str) -> Carried:
    """What comes of a call, whatever a model has written. This raises nothing."""
    try:
        return _carry_out(copy, read_arguments(name, arguments))
    except (BadArguments, Refused) as fault:
        return refused(str(fault))


def _carry_out(copy: WorkingCopy, call: Arguments) -> Carried:
    match call:
        case ListFiles():
            return list_files(copy, call)
        case Search():
            return search(copy, call)
        case ReadFile():
            return read_lines(copy, call)
        case EditFile(path, old, new):
            path = path_of(path)
            copy.edit(path, old, new)
            return Carried(True, f"{path} is changed.", "changed")
        case WriteFile(path, content):
            return _write(copy, path_of(path), content)
        case DeleteFile(path):
            path = path_of(path)
            copy.delete(path)
            return Carried(True, f"{path} is deleted.", "deleted")
        case MoveFile(path, new_path):
            path, new_path = path_of(path), path_of(new_path)
            copy.move(path, new_path)
            return Carried(True, f"{path} is at {new_path} now.", f"moved to {new_path}")
        case Finish():
            return Carried(True, "The part is finished.", "handed in")


def _write(copy: WorkingCopy, path: str, content: str) -> Carried:
    word = "replaced" if copy.has(path) else "created"
    copy.write(path, content)
    lines = content.count("\n") + bool(content and not content.endswith("\n"))
    return Carried(True, f"{path} is {word}, with {lines} lines.", f"{word}, {lines} lines")
