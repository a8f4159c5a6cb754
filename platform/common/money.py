"""Money: whole nano-USD (10^9 to the US dollar) everywhere inside, JSON numbers at the edge."""

from decimal import Decimal, InvalidOperation

NUSD_PER_USD = 1_000_000_000
NUSD_PER_CENT = NUSD_PER_USD // 100


def usd(nusd: int) -> float:
    """The JSON number for an amount. Exact to the nano-dollar below 9 million USD (53 bits).

    msgspec writes it as JavaScript would: without an exponent down to 0.000001.
    """
    return nusd / NUSD_PER_USD


def usd_text(nusd: int) -> str:
    """The amount for people: "$1,234.50", and below a cent every significant digit."""
    dollars, nanos = divmod(abs(nusd), NUSD_PER_USD)
    fraction = f"{nanos:09}".rstrip("0").ljust(2, "0")
    return f"{'-' if nusd < 0 else ''}${dollars:,}.{fraction}"


def whole_cents(amount: object) -> int:
    """Nano-USD of an amount given in USD with at most two decimals.

    Raises ValueError for anything finer than a cent, not finite, or not a number.
    """
    return exact_nusd(amount, decimals=2)


def exact_nusd(amount: object, *, decimals: int) -> int:
    """Nano-USD of an amount given in USD with at most `decimals` decimals, nine at most.

    Raises ValueError for anything finer, not finite, or not a number.
    """
    if isinstance(amount, bool) or not isinstance(amount, int | float | str | Decimal):
        raise ValueError("An amount is a number of US dollars.")  # noqa: TRY004
    try:
        exact = Decimal(str(amount))
        rounded = exact.quantize(Decimal(1).scaleb(-decimals))
    except InvalidOperation:
        raise ValueError("An amount is a number of US dollars.") from None
    if rounded != exact:  # a comparison rounds nothing, unlike arithmetic
        limit = "is in whole cents" if decimals == 2 else f"has at most {decimals} decimals"
        raise ValueError(f"An amount {limit}.")
    return int(rounded.scaleb(9))
