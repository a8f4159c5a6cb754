"""Flags in code: each one is read somewhere, named as its constant, and known to the admin."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from content import flags
from content.flags import FLAGS, Flag
from content.models import FlagRecord
from content.services.flags import add_missing_records
from devserver.paths import ROOT

DEFINED = {name: value for name, value in vars(flags).items() if isinstance(value, Flag)}
LEFT_OUT = {"tests", "migrations", ".venv", "var", "node_modules"}


def source_files() -> Iterator[Path]:
    """All of our code but tests and the definitions themselves."""
    definitions = Path(flags.__file__)
    for path in ROOT.rglob("*.py"):
        if not LEFT_OUT & set(path.relative_to(ROOT).parts) and path != definitions:
            yield path


def reads(code: str) -> Iterator[str]:
    """The constants that `flags.CONSTANT.is_on(...)` names."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Attribute(value=ast.Name(id="flags"), attr=constant), attr="is_on"
                )
            ):
                yield constant


def test_a_read_is_found_by_its_form() -> None:
    code = "if not flags.NEW_EDITOR.is_on(user): pass\nflags.OLD\nothers.NEW.is_on()"
    assert list(reads(code)) == ["NEW_EDITOR"]


def test_every_flag_is_read_by_the_app_that_owns_it() -> None:
    readers: dict[str, set[str]] = {constant: set() for constant in DEFINED}
    for path in source_files():
        for constant in reads(path.read_text()):
            readers[constant].add(path.relative_to(ROOT).parts[0])
    assert readers == {constant: {flag.owner} for constant, flag in DEFINED.items()}


def test_every_flag_is_listed_and_named_as_its_constant() -> None:
    assert {flag.name for flag in DEFINED.values()} == FLAGS.keys()
    assert {constant: flag.name.upper() for constant, flag in DEFINED.items()} == {
        constant: constant for constant in DEFINED
    }


@pytest.mark.parametrize("flag", DEFINED.values(), ids=lambda flag: flag.name)
def test_a_flag_says_what_it_switches(flag: Flag) -> None:
    assert flag.description.endswith(".")


@pytest.mark.django_db
def test_a_migration_adds_new_flags_and_keeps_those_of_before() -> None:
    FlagRecord.objects.create(name="gone")
    FlagRecord.objects.filter(name="sign_up").delete()
    add_missing_records()
    assert set(FlagRecord.objects.values_list("name", flat=True)) == {*FLAGS, "gone"}
