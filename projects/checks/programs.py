"""Checks of programs, by the grammars of tree-sitter and, for Python, by Python's own parser.

Grammars have gaps, and our Python is older or younger than the author's. So a fault of Python is
one that both see, and in TypeScript, whose grammar lacks most, it is a bracket without its partner.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from tree_sitter import Node, Parser

from integrations.workspaces.grammars import parse
from projects.checks.faults import MAX_FAULTS, Fault, near
from projects.checks.kinds import GRAMMARS

# Commands of notebooks in a file that is named as a program.
_COMMAND: Final = re.compile(r"^\s*[%!]\w", re.MULTILINE)
_PARTNERS: Final = {"(": ")", "[": "]", "{": "}", "${": "}"}
_OPAQUE: Final = frozenset({"string", "comment", "regex", "jsx_text", "string_fragment"})
_OPEN: Final = '"{}" is not closed'


def check_script(language: str, text: str, parsers: dict[str, Parser]) -> tuple[Fault, ...]:
    """JavaScript and TypeScript, with their tags."""
    source = text.encode()
    faults: list[Fault] = []
    for grammar in reversed(GRAMMARS[language]):
        tree = parse(parsers[grammar], source)
        if tree is None or not tree.root_node.has_error:
            return ()
        faults = [*_single_brackets(tree.root_node, source)]
        if not faults and language == "javascript":
            faults = [*_misfits(tree.root_node, source)]
    return tuple(sorted(faults, key=lambda fault: fault.line)[:MAX_FAULTS])


def check_python(text: str, parsers: dict[str, Parser]) -> tuple[Fault, ...]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        is_sure = isinstance(error, IndentationError) and not isinstance(error, TabError)
        if _COMMAND.search(text) or not (is_sure or _is_broken(text, parsers)):
            return ()
        lines, number = text.splitlines(), error.lineno or 1
        line = lines[number - 1] if 0 < number <= len(lines) else ""
        return (Fault(number, f"{error.msg} near {near(line)}." if line else f"{error.msg}."),)
    # What no parser of Python takes is for others to judge.
    except (ValueError, RecursionError, MemoryError):
        return ()
    return ()


def _is_broken(text: str, parsers: dict[str, Parser]) -> bool:
    tree = parse(parsers["python"], text.encode())
    return tree is not None and tree.root_node.has_error


def _single_brackets(root: Node, source: bytes) -> Iterator[Fault]:
    """Brackets without a partner; those in strings and comments are none."""
    lines = source.split(b"\n")
    waiting: list[Node] = []
    for node in _leaves(root):
        if node.type in _PARTNERS:
            waiting.append(node)
        elif node.type in _PARTNERS.values() and not node.is_missing:
            places = [place for place, each in enumerate(waiting) if _is_pair(each, node)]
            if not places:
                yield _fault(node, f'"{node.type}" closes nothing', lines)
                continue
            yield from (
                _fault(each, _OPEN.format(each.type), lines) for each in waiting[places[-1] + 1 :]
            )
            del waiting[places[-1] :]
    yield from (_fault(each, _OPEN.format(each.type), lines) for each in waiting)


def _is_pair(opening: Node, closing: Node) -> bool:
    return _PARTNERS[opening.type] == closing.type


def _misfits(root: Node, source: bytes) -> Iterator[Fault]:
    lines = source.split(b"\n")
    for node in islice(_broken(root), MAX_FAULTS):
        what = f'"{node.type}" is missing' if node.is_missing else "invalid syntax"
        yield _fault(node, what, lines)


def _fault(node: Node, what: str, lines: Sequence[bytes]) -> Fault:
    row = node.start_point.row
    line = lines[row].decode(errors="replace") if row < len(lines) else ""
    return Fault(row + 1, f"{what} near {near(line)}." if line.strip() else f"{what}.")


def _leaves(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _OPAQUE:
            continue
        if not node.child_count:
            yield node
        waiting += reversed(node.children)


def _broken(root: Node) -> Iterator[Node]:
    """The nodes that do not fit, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            waiting += reversed(node.children)
