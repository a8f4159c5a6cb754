"""Files that models write are parsed before anybody reviews them, and what cannot be judged is no
fault."""

import json
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from projects.checks.checking import MAX_FAULTS, Written, faults_of
from projects.checks.data import check_json, check_toml, check_yaml
from projects.checks.kinds import kind_of
from projects.checks.links import read_links
from projects.tests.own_files import faults_of_our_own

# A file, its text, and the sentence about it.
BROKEN = {
    "unclosed.py": ("x = (1,\n\ny = 2\n", "Line 1: '(' was never closed near \"x = (1,\"."),
    "colon.py": ("def f()\n    return 1\n", "Line 1: expected ':' near \"def f()\"."),
    "indent.py": ("x = 1\n  y = 2\n", 'Line 2: unexpected indent near "y = 2".'),
    "prose.py": ("import a\n\nHere it is:\n", 'Line 3: invalid syntax near "Here it is:".'),
    "conflict.py": (
        "<<<<<<< HEAD\nx = 1\n=======\n",
        'Line 1: invalid syntax near "<<<<<<< HEAD".',
    ),
    "open.js": ("\nfunction f() {\n", 'Line 2: "{" is not closed near "function f() {".'),
    "value.mjs": ("const x = ;\n", 'Line 1: invalid syntax near "const x = ;".'),
    "more.jsx": ("if (a) { } }\n", 'Line 1: "}" closes nothing near "if (a) { } }".'),
    "types.ts": (
        "export function f(a: string {\n  return a;\n}\n",
        'Line 1: "(" is not closed near "export function f(a: string {".',
    ),
    "tags.tsx": (
        "export const A = () => (<p>{x</p>\n",
        'Line 1: "(" is not closed near "export const A = () => (<p>{x</p>".',
    ),
    "comma.json": (
        '{"a": 1,}',
        "Line 1: Expecting property name enclosed in double quotes, at column 9.",
    ),
    "package.json": ('// c\n{"a": 1}', "Line 1: Expecting value, at column 1."),
    "colons.yaml": ("a: b: c\n", "Line 1: mapping values are not allowed in this context."),
    "twice.toml": ("a = 1\na = 2\n", "Line 2: Cannot overwrite a value."),
    "page.html": (
        "<!doctype html>\n<body>\n<div><section>\n</div></body>\n",
        "Line 3: <section> is not closed.",
    ),
    "docs/links.md": (
        "# Sea\n\n[a](../README.md) [b](deep/)\n[c](gone.md)\n",
        'Line 4: the link "gone.md" leads to no file.',
    ),
    "docs/anchor.md": ("# Sea\n\n[a](#land)\n", 'Line 3: the link "#land" leads to no heading.'),
}

PATHS = ["README.md", "docs/deep/index.md", "docs/b c.png"]

# Of these nobody can say, or they are sound.
SOUND = {
    "two.py": 'print "hello"\ntry:\n    x\nexcept A, e:\n    pass\n',
    "new.py": 'type X = int\nx = f"{d["a"]}"\n',
    "mark.py": "\ufeffx = 1\n",
    "notebook.py": "%matplotlib inline\nx = (\n",
    "{{ cookiecutter.name }}/a.py": "x = (\n",
    "form.py": "x = {{ value }} +\n",
    "flow.js": "// @flow\nfunction f(a: number): string { return ''; }\n",
    "shell.js": "#!/usr/bin/env node\nlet a = /[{]/; let b = '}'; // {\n",
    "view.js": "<% if (a) { %>\n",
    "gaps.ts": "export type * from './a';\nexport interface Z<in out T> { a: T }\n",
    "using.tsx": "await using.catch((error) => report({ problem: `${error}` }));\n",
    "bundle.min.js": "function f() {",
    "dist/a.js": "function f() {",
    "tsconfig.json": '{ // c\n "a": [1,], }',
    ".vscode/settings.json": '{ /* c */ "a": "http://x", }',
    "notes.json": '// c\n{"a": "// no"}',
    "lines.json": '{"a": 1}\n{"a": 2}\n',
    "odd.json": '{"a": NaN, "b": %s}' % ("1" * 5_000),
    "empty.json": "",
    "mark.json": "\ufeff{}",
    "chart/templates/a.yaml": "a: {{ .Values.a }}\n{{- if eq .b 1 }}\n",
    "several.yml": "a: 1\n---\nb: !vault |\n  x\n",
    "ci.yml": "on: push\nx: ${{ a.b }}\n",
    "playbook.yml": "x: {{ a }}\n",
    "surrogates.yaml": '{"a": "\\ud83d\\ude00"}',
    "part.html": "<div>\n",
    "view.html": "<!doctype html><div>{% if a %}</div>{% endif %}",
    "whole.html": "<!doctype html><p>a<p>b<ul><li>c<li>d</ul><svg><path d='x'/></svg><br>"
    "<script>if (a < b) { x('<div>') }</script><custom-tag></custom-tag>",
    "docs/fine.md": "# Hello, *World*!\n\n<a id='own'></a>\n[a](#hello-world) [b](#own) [c](http://x/y.md)"
    " [d](/route) [e](guide) [f](../../issues) [g](b%20c.png) [h](#L10) [i](../readme.html)"
    " [j](mailto:a@b.c) [k](../readme.MD#x)\n\n`[l](no.md)`\n\n```\n[m](no.md)\n```\n",
    "code.rs": "fn main( {",
    "notes.txt": "{",
}  # fmt: skip


def sentences(files: dict[str, str]) -> dict[str, list[str]]:
    """What is said of each file."""
    written = [Written(path, text) for path, text in files.items()]
    said: dict[str, list[str]] = {}
    for fault in faults_of(written, [*PATHS, *files]):
        said.setdefault(fault.path, []).append(fault.message)
    return said


def test_faults_are_told_with_their_lines() -> None:
    said = sentences({path: text for path, (text, _) in BROKEN.items()})
    assert {path: messages[0] for path, messages in said.items()} == {
        path: message for path, (_, message) in BROKEN.items()
    }


def test_what_cannot_be_judged_is_no_fault() -> None:
    assert sentences(SOUND) == {}


def test_a_file_that_was_faulty_before_is_no_fault_of_the_author() -> None:
    broken = {path: text for path, (text, _) in BROKEN.items() if not path.endswith(".md")}
    written = [Written(path, f"{text}\n", before=text) for path, text in broken.items()]
    assert faults_of(written, []) == []


def test_a_file_that_was_sound_before_is_judged() -> None:
    assert len(faults_of([Written("a.py", "x = (", before="x = 1")], [])) == 1


def test_a_link_that_led_nowhere_before_is_no_fault_and_a_new_one_is() -> None:
    before = "[a](gone.md)\n"
    [fault] = faults_of([Written("a.md", f"{before}[b](lost.md)\n", before=before)], [])
    assert fault.message == 'Line 2: the link "lost.md" leads to no file.'


def test_an_attempt_has_a_bounded_number_of_faults() -> None:
    files = [Written(f"{number}.py", "x = (") for number in range(50)]
    assert len(faults_of(files, [])) == MAX_FAULTS
    many = [Written("a.html", "<html>" + "</div>\n" * 500)]
    assert len(faults_of(many, [])) == 3


def test_hostile_files_are_judged_in_bounded_time() -> None:
    """What breaks a parser, or takes long, is not judged; a small file beside it is."""
    hostile = {
        "nested.py": "(" * 400_000,
        "nested.json": "[" * 400_000,
        "memory.tsx": "a<b," * 100_000,
        "quotes.html": "<!doctype html>" + "<div " * 80_000,
        "links.md": "[a](" * 100_000,
    }
    began = time.monotonic()
    said = sentences({**hostile, "small.py": "x = (\n"})
    assert set(said) - {"nested.py"} == {"small.py"}
    assert time.monotonic() - began < 30


def test_no_file_of_this_repository_has_a_fault() -> None:
    """A part of them; a drill takes all."""
    assert faults_of_our_own(every=12) == []


# --- What programs write --------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=VALUES, indent=st.sampled_from([None, 2]), is_ascii=st.booleans())
def test_no_json_that_a_program_writes_has_a_fault(
    value: object, indent: int | None, is_ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    assert check_json("a.json", text) == ()
    assert check_yaml(text) == ()


@given(value=VALUES, is_flow=st.booleans())
def test_no_yaml_that_a_program_writes_has_a_fault(value: object, is_flow: bool) -> None:
    assert check_yaml(yaml.safe_dump(value, default_flow_style=is_flow)) == ()


@given(text=st.text())
def test_any_text_is_judged_without_an_error(text: str) -> None:
    check_json("a.json", text)
    check_yaml(text)
    check_toml(text)
    read_links(text)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.py", "python"),
        ("a/b.mts", "typescript"),
        ("A.MD", "markdown"),
        ("package-lock.json", None),
        ("vendor/a.py", None),
        ("Dockerfile", None),
        ("a.java", None),
    ],
)
def test_a_file_is_checked_by_its_name(path: str, kind: str | None) -> None:
    assert kind_of(path) == kind
