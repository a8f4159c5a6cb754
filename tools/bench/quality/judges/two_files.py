"""What is exported can be imported, in the next free format."""

from collections.abc import Iterator

from bench.quality.judges.checks import module


def faults() -> Iterator[str]:
    line = module("shop.basket").Line
    exported, imported = module("shop.export").exported, module("shop.imports").imported
    lines = [line("Bread; with butter", 320, 2), line("Tea", 240)]
    text = exported(lines)
    if text.split("\n")[0] != "format\t7":
        yield f"the first line is {text.split(chr(10))[0]!r}"
    if imported(text) != lines:
        yield "what is imported is not what was exported"
    try:
        imported("format;2\nTea;240;1")
    except ValueError:
        return
    yield "the former format is still read"
