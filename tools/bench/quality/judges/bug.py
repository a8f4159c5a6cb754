"""Discounts are what they say, alone and together."""

from collections.abc import Iterator

from bench.quality.judges.checks import differing, module


def faults() -> Iterator[str]:
    basket, discounts = module("shop.basket"), module("shop.discounts")
    line = basket.Line
    for cents, percent, left in ((1000, 5, 950), (999, 10, 900), (200, 90, 100), (310, 0, 310)):
        if (found := discounts.reduced(cents, percent)) != left:
            yield f"{percent} % off {cents} leaves {found}, not {left}"
    total = basket.calc([line("Tea", 240, 2, 5), line("Cake", 310, 1, 50), line("Soup", 790)])
    if total != 456 + 155 + 790:
        yield f"three lines cost {total}"
    yield from differing({"shop/discounts.py": "MOST = 50", "shop/basket.py": "def calc("})
