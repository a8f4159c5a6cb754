"""The name is another one everywhere, and all modules work."""

import re
from collections.abc import Iterator

from bench.quality.judges.checks import REPOSITORY, module


def faults() -> Iterator[str]:
    for path in sorted(REPOSITORY.rglob("*.py")):
        if re.search(r"\bcalc\b", path.read_text()):
            yield f"{path.relative_to(REPOSITORY)} has calc"
    for path in sorted(REPOSITORY.glob("shop/*.py")):
        module(f"shop.{path.stem}")
    basket, orders = module("shop.basket"), module("shop.orders")
    order = orders.Order(7, [basket.Line("Tea", 240, 2)])
    if basket.order_total(order.lines) != 480 or order.cents != 480:
        yield "an order costs something else"
    if module("shop.reports").takings([order, order]) != 960:
        yield "the takings are something else"
    if module("shop.invoices").invoice(order)["total"] != 480:
        yield "an invoice is something else"
    module("tests.test_basket").test_a_basket_costs_what_its_lines_cost()
