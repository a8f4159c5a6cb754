"""Finds the symbols of source files, in a confined process: see `integrations.workspaces.symbols`.

The arguments are the languages. A question is a language, a null and the text; the answer is a JSON
list of names with their kinds and lines.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from tree_sitter import Node, Parser

from common.confined_answers import serve
from common.confinement import confine
from integrations.workspaces.grammars import load, parse

CPU_SECONDS: Final = 5
MEMORY: Final = 512 * 1024 * 1024  # bytes of address space

MAX_SYMBOLS: Final = 400  # of a file
_MAX_NAME: Final = 120  # bytes
# Namespaces and classes in each other.
_MAX_DEPTH: Final = 6

# The nodes of each language's syntax that define something, by its kind. Those under "" define
# nothing themselves, and may have such nodes in them.
_C = {
    "function": ["function_definition", "function_declarator", "preproc_function_def"],
    "type": ["type_definition", "struct_specifier", "union_specifier", "enum_specifier"],
    "constant": ["preproc_def"],
    "": [
        "declaration",
        "declaration_list",
        "linkage_specification",
        "pointer_declarator",
        "preproc_if",
        "preproc_ifdef",
        "preproc_elif",
        "preproc_else",
    ],
}
_GO = {
    "function": ["function_declaration"],
    "method": ["method_declaration"],
    "type": ["type_spec", "type_alias"],
    "constant": ["const_spec", "var_spec"],
    "": ["type_declaration", "const_declaration", "var_declaration", "var_spec_list"],
}
_JAVA = {
    "class": ["class_declaration", "record_declaration", "enum_declaration"],
    "interface": ["interface_declaration", "annotation_type_declaration"],
    "function": ["method_declaration", "constructor_declaration"],
    "": ["enum_body_declarations"],
}
_JAVASCRIPT = {
    "class": ["class_declaration", "abstract_class_declaration"],
    "interface": ["interface_declaration"],
    "type": ["type_alias_declaration", "enum_declaration"],
    "module": ["internal_module", "module"],
    "function": [
        "function_declaration",
        "generator_function_declaration",
        "function_signature",
        "method_definition",
        "abstract_method_signature",
    ],
    "constant": ["variable_declarator"],
    "export": ["export_specifier"],
    "": [
        "export_statement",
        "export_clause",
        "ambient_declaration",
        "expression_statement",
        "lexical_declaration",
        "variable_declaration",
    ],
}
_PHP = {
    "class": ["class_declaration", "trait_declaration", "enum_declaration"],
    "interface": ["interface_declaration"],
    "module": ["namespace_definition"],
    "function": ["function_definition", "method_declaration"],
    "constant": ["const_element"],
    "": ["const_declaration"],
}
_PYTHON = {
    "class": ["class_definition"],
    "function": ["function_definition"],
    "type": ["type_alias_statement"],
    "constant": ["assignment"],
    "": [
        "decorated_definition",
        "expression_statement",
        "block",
        "if_statement",
        "else_clause",
        "try_statement",
        "except_clause",
    ],
}
_RUBY = {
    "class": ["class"],
    "module": ["module"],
    "function": ["method", "singleton_method"],
    "constant": ["assignment"],
    "": ["singleton_class", "body_statement"],
}
_RUST = {
    "type": ["struct_item", "enum_item", "union_item", "type_item"],
    "interface": ["trait_item"],
    "module": ["mod_item"],
    "function": ["function_item", "function_signature_item", "macro_definition"],
    "constant": ["const_item", "static_item"],
    "": ["impl_item", "declaration_list", "foreign_mod_item"],
}
_DEFINING: Final = {
    "c": _C,
    "go": _GO,
    "java": _JAVA,
    "javascript": _JAVASCRIPT,
    "php": _PHP,
    "python": _PYTHON,
    "ruby": _RUBY,
    "rust": _RUST,
    "tsx": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
}
_NAMES: Final = ("alias", "name", "declarator", "left")
_CLASSES: Final = ("class", "interface", "type")
_QUALIFIED: Final = ("namespace_name", "scope_resolution")
_FUNCTIONS: Final = ("arrow_function", "function_expression", "function", "class")

Row = tuple[str, str, int]


def main() -> None:
    parsers = {language: load(language) for language in sys.argv[1:]}
    confine(cpu_seconds=CPU_SECONDS, memory=MEMORY)
    serve(lambda question: msgspec.json.encode(_symbols(parsers, question)))


def _symbols(parsers: dict[str, Parser], question: bytes) -> list[Row]:
    language, _, source = question.partition(b"\0")
    name = language.decode()
    tree = parse(parsers[name], source)
    if tree is None:
        return []
    found: list[Row] = []
    for row in _Reader(source, _DEFINING[name]).rows(tree.root_node):
        if len(found) == MAX_SYMBOLS:
            break
        found.append(row)
    return found


class _Reader:
    """Reads the definitions in a text. `defining` are the nodes of its language."""

    def __init__(self, source: bytes, defining: Mapping[str, Sequence[str]]) -> None:
        self._source = source
        self._kinds = {node: kind for kind, nodes in defining.items() for node in nodes}

    def rows(
        self, parent: Node, *, depth: int = 0, of_class: bool = False, exported: bool = False
    ) -> Iterator[Row]:
        """What the nodes in `parent` define, in the order of the text."""
        for node in parent.named_children:
            kind = self._kinds.get(node.type)
            name = self._name(node) if kind else ""
            kind = _kind(node, kind, name, exported=exported) if kind else kind
            if kind is None:
                continue
            if name and kind:
                is_method = kind == "function" and of_class
                yield name, "method" if is_method else kind, node.start_point.row + 1
            if depth < _MAX_DEPTH and kind in ("", "module", *_CLASSES):
                yield from self.rows(
                    (node.child_by_field_name("body") if kind else None) or node,
                    depth=depth + 1,
                    of_class=kind in _CLASSES
                    or node.type == "impl_item"
                    or (not kind and of_class),
                    exported=exported or node.type == "export_statement",
                )

    def _name(self, node: Node) -> str:
        """The name that a node defines; empty where it is no single one."""
        for step in range(_MAX_DEPTH):
            inner = next(filter(None, map(node.child_by_field_name, _NAMES)), None)
            if inner is None and (node.type in _QUALIFIED or not node.named_child_count):
                name = self._source[node.start_byte : node.end_byte]
                return name[:_MAX_NAME].decode(errors="ignore")
            if inner is None and (
                node.type == "const_element" or (step and node.named_child_count == 1)
            ):
                inner = node.named_child(0)
            if inner is None:
                return ""
            node = inner
        return ""


def _kind(node: Node, kind: str, name: str, *, exported: bool) -> str | None:
    """None for what nobody else would look for: locals, mentions of a type, guards of headers."""
    match node.type:
        case "variable_declarator":
            value = node.child_by_field_name("value")
            if value is not None and value.type in _FUNCTIONS:
                return "class" if value.type == "class" else "function"
            return kind if exported else None
        case "assignment" | "const_spec" | "var_spec":
            return kind if name[:1].isupper() else None
        case "struct_specifier" | "union_specifier" | "enum_specifier":
            return kind if node.child_by_field_name("body") is not None else None
        case "preproc_def":
            return kind if node.child_by_field_name("value") is not None else None
    return kind


if __name__ == "__main__":
    main()
