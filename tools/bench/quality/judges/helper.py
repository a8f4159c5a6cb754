"""A receipt has the prices that the shop's own function writes."""

from collections.abc import Iterator

from bench.quality.judges.checks import differing, module


def faults() -> Iterator[str]:
    line, receipts = module("shop.basket").Line, module("shop.receipts")
    lines = [line("Tea", 240, 2), line("Wedding cake", 125000)]
    wanted = "Tea  4,80 EUR\nWedding cake  1.250,00 EUR\nTotal  1.254,80 EUR"
    if (found := receipts.receipt(lines).rstrip("\n")) != wanted:
        yield f"a receipt is {found!r}"
    words = module("shop.words")
    if words.in_euros not in vars(receipts).values() and words not in vars(receipts).values():
        yield "it does not use the function that is there"
    yield from differing({"shop/receipts.py": "def heading(", "shop/words.py": "def in_euros("})
