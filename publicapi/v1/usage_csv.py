"""The usage report as CSV (RFC 4180): a row for each day, key and model."""

import csv
import io
import re
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

# The characters that begin a formula in a spreadsheet, with their wide, small and raised forms
# (OWASP, "CSV Injection").
_SIGNS = r"=+\-@＝＋－＠﹦﹢﹣﹫−⁺⁻⁼₊₋₌"  # noqa: RUF001
# Such a character at the beginning of a cell, after invisible characters or a quote. The beginning
# of a cell depends on the language of the spreadsheet: semicolons and tabs separate cells, too.
_FORMULA = re.compile(rf"(^|[\t\r\n,;|])([\s'\"\u200b-\u200f\ufeff]*)(?=[{_SIGNS}])")


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
    """The text with an apostrophe, by which spreadsheets treat a cell as text."""
    text = _FORMULA.sub(r"\1'\2", text)
    return f"'{text}" if text.startswith(("\t", "\r", "\n")) else text
