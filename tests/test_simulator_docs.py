"""docs/simulator.md: its tables are the options that the simulator reads."""

from collections.abc import Iterator
from typing import Any

from msgspec.inspect import (
    BoolType,
    FloatType,
    IntType,
    LiteralType,
    Metadata,
    StrType,
    StructType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from devserver.paths import ROOT
from simulator.steering import Steering
from tests.documents import assert_same, rows

PAGE = ROOT / "docs" / "simulator.md"


def values_of(kind: Type) -> str:
    """What an option may be, in words."""
    match kind:
        case Metadata(type=inner):
            return values_of(inner)
        case UnionType(types=types):
            [only] = [each for each in types if type(each).__name__ != "NoneType"]
            return values_of(only)
        case BoolType():
            return "true"
        case StrType():
            return "a text"
        case IntType(ge=least, le=None):
            return f"from {least}"
        case IntType(ge=least, le=most):
            return f"{least} to {most:,}"
        case LiteralType(values=values):
            return ", ".join(f'"{each}"' for each in values)
        case FloatType(ge=least, le=most):
            return f"{least} to {most}"
        case StructType(fields=fields):
            return f"an object of {', '.join(field.name for field in fields)}"
        case VarTupleType(item_type=StructType(fields=fields), max_length=most):
            names = ", ".join(field.name for field in fields)
            return f"a list of {{{names}}}, at most {most}"
        case VarTupleType(item_type=item):
            return f"a list of {values_of(item)}"
    raise AssertionError(f"{kind} has no words yet")


def existing() -> Iterator[tuple[str, str]]:
    """The options and their values. A default that means something is told."""
    info: Any = type_info(Steering)
    for field in info.fields:
        words = values_of(field.type)
        if isinstance(field.default, tuple):
            words += f"; else {', '.join(field.default)}"
        elif field.default:
            words += f"; else {field.default:,}"
        yield field.name, words


def test_every_option_is_told_with_its_values() -> None:
    _, _, options = PAGE.read_text().partition("\n## The options\n")
    stated = [(row[0], row[1]) for row in rows(options)]
    assert_same(stated, existing(), "docs/simulator.md, The options")
