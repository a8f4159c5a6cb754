"""Checks of JSON, YAML and TOML."""

import json
import re
import tomllib
from pathlib import PurePosixPath
from typing import Final

import yaml

from projects.checks.faults import Fault

# Their programs take comments and a last comma.
_LENIENT_NAMES: Final = re.compile(
    r"(ts|js)config.*\.json|devcontainer\.json|\.?(eslintrc|babelrc|swcrc|jshintrc|stylelintrc)\.json"
    r"|(deno|turbo|biome|renovate|angular|nx|language-configuration|api-extractor)\.json"
)
_LENIENT_FOLDERS: Final = frozenset({".vscode", ".devcontainer", ".zed"})
# Here a comment is a fault, as nobody reads them with one.
_STRICT_NAMES: Final = frozenset({"package.json", "composer.json", "manifest.json"})
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
# A string, which stays, or a comment.
_COMMENT: Final = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA: Final = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[\]}])')


def check_json(path: str, text: str) -> tuple[Fault, ...]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if _is_other_json(path, text):
            return ()
        return (Fault(error.lineno, f"{error.msg}, at column {error.colno}."),)
    # A number of thousands of digits.
    except ValueError:
        return ()
    return ()


def _is_other_json(path: str, text: str) -> bool:
    """JSON with comments, or one value a line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(map(_is_json, lines)):
        return True
    *folders, name = PurePosixPath(path.lower()).parts
    bare = _COMMENT.sub(lambda found: found[1] or " ", text)
    if _LENIENT_NAMES.fullmatch(name) or not _LENIENT_FOLDERS.isdisjoint(folders):
        return _is_json(_LAST_COMMA.sub(lambda found: found[1] or " ", bare))
    return name not in _STRICT_NAMES and bare != text and _is_json(bare)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def check_toml(text: str) -> tuple[Fault, ...]:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        line = int(place[1]) if place is not None and place[1] else text.count("\n") + 1
        return (Fault(line, f"{_PLACE.sub('', message)}."),)
    return ()


def check_yaml(text: str) -> tuple[Fault, ...]:
    """Its events alone: several documents, tags of one's own and aliases are no matter."""
    try:
        for _ in yaml.parse(text, Loader=yaml.CSafeLoader):
            pass
    except yaml.MarkedYAMLError as error:
        # JSON is YAML, with its own escapes.
        if _is_json(text):
            return ()
        mark = error.problem_mark or error.context_mark
        words = ", ".join(filter(None, (error.context, error.problem)))
        return (Fault(mark.line + 1 if mark is not None else 1, f"{words}."),)
    # Characters that YAML does not take are no matter of its form.
    except yaml.YAMLError:
        return ()
    return ()
