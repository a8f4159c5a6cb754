"""The functions that the author of a subtask may call, and what their arguments mean.

The structs are both: the JSON Schemas that models are shown are made of them, and what a model
writes is read into them. A model's arguments are data: whatever they are, reading them gives a call
or a sentence that says what is wrong.
"""

import json
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from ai.providers.types import Tool
from projects.json_answers import with_storable_texts
from projects.paths import MAX_PATH

# Characters of what is looked for, and of a pattern.
MAX_QUERY: Final = 200

_Path = Annotated[str, Meta(description="The path from the top of the repository.")]
_Folder = Annotated[str, Meta(description="Only in this folder, or this file. Empty for all.")]


class BadArguments(Exception):
    """The arguments cannot be used; the text is a sentence for their author."""


class ListFiles(Struct, frozen=True, forbid_unknown_fields=True):
    """List the files of the repository. A long list shows folders with the number of their files:
    name one of them, or a pattern."""

    path: _Folder = ""
    pattern: Annotated[str, Meta(description='For names or whole paths, such as "*.py".')] = ""


class Search(Struct, frozen=True, forbid_unknown_fields=True):
    """Find a text in the files, in any capitals, or a symbol: where a function, class or the like
    of that name is defined."""

    text: Annotated[str, Meta(description="What to look for; no pattern.")]
    path: _Folder = ""
    kind: Literal["text", "symbol"] = "text"


class ReadFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Read a file, or some of its lines. Each line has its number and a tab before it, which do not
    belong to the file."""

    path: _Path
    from_line: Annotated[int, Meta(description="The first line, from 1 on.")] = 1
    to_line: Annotated[int, Meta(description="The last line; 0 for the end of the file.")] = 0


class EditFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Replace a passage of a file by another. The old passage has to be in the file exactly once:
    give as many lines around it as that takes."""

    path: _Path
    old: Annotated[str, Meta(description="The passage as it is in the file, without line numbers.")]
    new: Annotated[str, Meta(description="What stands in its place.")]


class WriteFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Write a whole file: a new one, or one that you have read, which is replaced."""

    path: _Path
    content: Annotated[str, Meta(description="All of the file.")]


class DeleteFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Delete a file."""

    path: _Path


class MoveFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Move a file that you have read to another path, or rename it."""

    path: _Path
    new_path: Annotated[str, Meta(description="Where it is to be.")]


class Finish(Struct, frozen=True, forbid_unknown_fields=True):
    """Hand in your result. Call it once, when all files are written."""

    result: Annotated[str, Meta(description="The result in Markdown. Do not repeat files in it.")]
    summary: Annotated[
        str, Meta(description="At most five lines for those who do the other parts.")
    ] = ""


Arguments = ListFiles | Search | ReadFile | EditFile | WriteFile | DeleteFile | MoveFile | Finish
FINISH: Final = "finish"
_KINDS: Final[dict[str, type[Arguments]]] = {
    "list_files": ListFiles,
    "search": Search,
    "read_file": ReadFile,
    "edit_file": EditFile,
    "write_file": WriteFile,
    "delete_file": DeleteFile,
    "move_file": MoveFile,
    FINISH: Finish,
}


def read_arguments(name: str, arguments: str) -> Arguments:
    """The call of the function of that name with these arguments, JSON as a model wrote it. Raises
    BadArguments."""
    kind = _KINDS.get(name)
    if kind is None:
        raise BadArguments(f"There is no such function. There are {', '.join(_KINDS)}.")
    fields = _object(arguments)
    try:
        found = msgspec.convert(fields, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadArguments(f"The arguments do not fit: {error}.") from None
    _check_lengths(found)
    return found


def paths_named(call: Arguments) -> list[str]:
    """The paths of files that a call is about, as they stand in the repository."""
    match call:
        case ReadFile(path) | EditFile(path) | WriteFile(path) | DeleteFile(path):
            return [path_of(path)]
        case MoveFile(path, new_path):
            return [path_of(path), path_of(new_path)]
        case _:
            return []


def path_of(path: str) -> str:
    """A path as models write it, from the top of the repository: `./src/` is `src`."""
    path = path.strip()
    while path.startswith(("./", "/")):
        path = path.removeprefix("./").removeprefix("/")
    path = path.rstrip("/")
    return "" if path == "." else path


def _object(arguments: str) -> dict[str, Any]:
    """No text at all is an empty object; what is null is left out."""
    try:
        fields = json.loads(arguments) if arguments.strip() else {}
        if isinstance(fields, dict):
            fields = {name: value for name, value in fields.items() if value is not None}
            return {str(name): with_storable_texts(value) for name, value in fields.items()}
    except (ValueError, RecursionError):
        raise BadArguments(
            "The arguments are no valid JSON, perhaps because the answer ended within them. Write "
            "less at a time: a long file in parts, by edit_file."
        ) from None
    raise BadArguments("The arguments have to be an object in JSON.")


def _check_lengths(call: Arguments) -> None:
    match call:
        case ListFiles(path, text) | Search(text, path):
            if len(path) > MAX_PATH or len(text) > MAX_QUERY:
                raise BadArguments(
                    f"A path has at most {MAX_PATH} characters here, and a text {MAX_QUERY}."
                )
            if isinstance(call, Search) and not text.strip():
                raise BadArguments("The text to look for is empty.")
        case Finish(result):
            if not result.strip():
                raise BadArguments("The result is empty. Say in it what you have done.")
        case _:
            pass


def _tool(name: str, kind: type[Arguments]) -> Tool:
    _, components = msgspec.json.schema_components([kind])
    schema = dict(components[kind.__name__])
    description = " ".join(schema.pop("description").split())
    del schema["title"]
    fields = {field: _plain(value) for field, value in schema["properties"].items()}
    return Tool(name, description, {**schema, "properties": fields})


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    """A field as every provider takes it: with its type, and without a default."""
    return {"type": "string"} | {word: field[word] for word in field if word != "default"}


FUNCTIONS: Final = tuple(_tool(name, kind) for name, kind in _KINDS.items())


class Told(Struct, frozen=True):
    """What people are told of a call; None where it has none, or none that can be read."""

    path: str | None = None
    query: str | None = None


def told_of(name: str, arguments: str) -> Told:
    """What a call is about. This raises nothing."""
    try:
        call = read_arguments(name, arguments)
    except BadArguments:
        return Told()
    match call:
        case ListFiles(path, query) | Search(query, path):
            return Told(path_of(path) or None, query or None)
        case _:
            paths = paths_named(call)
            return Told(paths[0][:MAX_PATH] if paths else None)
