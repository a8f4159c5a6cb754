"""The usage report as CSV (RFC 4180): a row for each day, key and model."""

import csv
import io
from collections.abc import Iterable
from decimal import Decimal

from billing.selectors.usage import DayUsage

HEADER = (
    "date",
    "key_id",
    "name",
    "hint",
    "model",
    "requests",
    "tokens_in",
    "tokens_out",
    "usd",
)

# What a spreadsheet takes for the beginning of a formula, in the wide forms of East Asian keyboards
# too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001


def usage_csv(rows: Iterable[DayUsage]) -> bytes:
    """The header and a line for each row, in UTF-8. `usd` has nine decimals: it is exact."""
    text = io.StringIO(newline="")
    lines = csv.writer(text)
    lines.writerow(HEADER)
    lines.writerows(
        (
            row.day,
            row.key_id,
            _harmless(row.name),
            row.hint,
            row.model_id,
            row.requests,
            row.tokens_in,
            row.tokens_out,
            f"{Decimal(row.billed).scaleb(-9):.9f}",
        )
        for row in rows
    )
    return text.getvalue().encode()


def _harmless(text: str) -> str:
    """The text as no spreadsheet computes it: an apostrophe says that a cell holds text."""
    return f"'{text}" if text.startswith(_FORMULA) else text
