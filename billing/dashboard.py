"""The first page for operators: the numbers of accounts, money and errors. Days are UTC days."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.cache import cache
from msgspec import Struct, json

from billing.queries import fetch_rows
from common.money import NUSD_PER_CENT, usd, usd_text

DAYS = 30
KEPT_SECONDS = 60
# The most used models; the others share one bar.
TOP_MODELS = 10

_PLANS = """
SELECT p.name, p.price, count(u.id) FROM billing_plan p
LEFT JOIN billing_subscription s ON s.plan_id = p.key AND s.status = 'active'
LEFT JOIN accounts_user u ON u.id = s.account_id AND u.status = 'active'
  AND u.id <> platform_account()
GROUP BY p.key ORDER BY p.rank"""
_USAGE = """
SELECT day, model_id, sum(requests)::bigint, sum(billed)::bigint, count(DISTINCT account_id)
FROM billing_usagedaily WHERE day >= %s
GROUP BY GROUPING SETS ((day), (model_id), ())"""
_FAILED = """
SELECT (admitted_at AT TIME ZONE 'UTC')::date AS day, status, count(*)
FROM billing_charge WHERE status IN ('released', 'expired') AND admitted_at >= %s
  AND (funding = 'customer' OR free_window_start IS NOT NULL)
GROUP BY 1, 2"""
_TOPUPS = """
SELECT (created_at AT TIME ZONE 'UTC')::date AS day, sum(delta)::bigint
FROM billing_ledgerentry WHERE kind = 'topup' AND created_at >= %s
GROUP BY 1"""
_HELD = """
SELECT count(*), coalesce(sum(hold_balance), 0)::bigint FROM billing_charge
WHERE status = 'held'"""


class Card(Struct, frozen=True):
    """One number; `note` explains it."""

    title: str
    value: str
    note: str


class Series(Struct, frozen=True):
    """One line, or one row of bars, in a colour of the theme."""

    label: str
    values: list[float]
    color: str = "primary-500"


class Chart(Struct, frozen=True):
    """`kind` is line or bar; `unit` stands at the axis, where there is one."""

    title: str
    note: str
    kind: str
    labels: list[str]
    series: list[Series]
    unit: str = ""

    @property
    def data(self) -> str:
        """The data for Chart.js, as JSON; the theme reads the axes' settings from the series."""
        style = {"displayYAxis": True, "suffixYAxis": self.unit, "maxTicksXLimit": 10}
        bars = {"maxBarThickness": 18, "maxTicksXLimit": len(self.labels)}
        datasets = [
            {
                "label": series.label,
                "data": series.values,
                "borderColor": f"var(--color-{series.color})",
                "backgroundColor": f"var(--color-{series.color})",
                **style,
                **(bars if self.kind == "bar" else {}),
            }
            for series in self.series
        ]
        return json.encode({"labels": self.labels, "datasets": datasets}).decode()


class Dashboard(Struct, frozen=True):
    cards: list[Card]
    charts: list[Chart]
    computed_at: datetime


def dashboard() -> Dashboard:
    """The last 30 days, today included. Computed at most once a minute in each process."""
    found: Dashboard | None = cache.get("dashboard")
    if found is None:
        found = compute(datetime.now(UTC))
        cache.set("dashboard", found, KEPT_SECONDS)
    return found


def compute(now: datetime) -> Dashboard:
    """Compute the dashboard from the database: five queries, each by an index or over few rows."""
    days = [now.date() - timedelta(days=ago) for ago in reversed(range(DAYS))]
    begin = datetime.combine(days[0], datetime.min.time(), UTC)
    plans = fetch_rows(_PLANS)
    usage = fetch_rows(_USAGE, days[0])
    failed = fetch_rows(_FAILED, begin)
    topups: dict[date, int] = dict(fetch_rows(_TOPUPS, begin))
    [(open_holds, held)] = fetch_rows(_HELD)
    by_day = {day: row for day, _, *row in usage if day is not None}
    calls, billed, accounts = (
        {day: row[column] for day, row in by_day.items()} for column in range(3)
    )
    by_model = [(model, *row) for _, model, *row in usage if model is not None]
    [total] = [row for day, model, *row in usage if day is None and model is None]
    opened = sum(count for _, _, count in plans)
    return Dashboard(
        cards=[
            _revenue(plans),
            Card("Accounts in use", f"{total[2]:,}", f"{DAYS} days; {opened:,} are open"),
            Card("Top-ups", _cents(sum(topups.values())), f"{DAYS} days"),
            Card("Billed usage", _cents(total[1] or 0), f"{DAYS} days, {total[0] or 0:,} calls"),
            Card("Calls running", f"{open_holds:,}", f"{_cents(held)} of balances held"),
        ],
        charts=[
            _daily("Billed usage per day", "To plans and balances", days, billed, "USD"),
            # Of its own: top-ups and usage differ too much for one axis.
            _daily("Top-ups per day", "Paid in", days, topups, "USD", "green-500"),
            _daily("Calls per day", "Those that were billed", days, calls),
            _daily("Accounts in use per day", "Those that made such calls", days, accounts),
            _ranked("Calls by model", by_model, 1),
            _ranked("Billed usage by model", by_model, 2, "USD"),
            _errors(days, calls, failed),
        ],
        computed_at=now,
    )


def _revenue(plans: list[tuple[Any, ...]]) -> Card:
    """The sum of the fixed prices of all active subscriptions. Prices agreed by contract are not
    known here."""
    monthly = sum(price * count for _, price, count in plans if price)
    paying = ", ".join(f"{count:,} {name}" for name, price, count in plans if price and count)
    contracts = sum(count for _, price, count in plans if price is None)
    note = paying or "nobody pays yet"
    return Card(
        "Plans per month",
        _cents(monthly),
        f"{note}, and {contracts:,} by contract" if contracts else note,
    )


def _daily(
    title: str,
    note: str,
    days: list[date],
    amounts: dict[date, int],
    unit: str = "",
    color: str = "primary-500",
) -> Chart:
    values = [_value(amounts.get(day, 0), unit) for day in days]
    return Chart(title, note, "bar", _labels(days), [Series(title, values, color)], unit)


def _errors(days: list[date], billed: dict[date, int], failed: list[tuple[Any, ...]]) -> Chart:
    """The shares of released and expired calls among all admitted calls."""
    counts = {(day, status): count for day, status, count in failed}

    def rates(status: str) -> list[float]:
        return [_percent(counts.get((day, status), 0), calls(day)) for day in days]

    def calls(day: date) -> int:
        return int(billed.get(day, 0) + counts.get((day, "released"), 0))

    return Chart(
        "Errors per day",
        "Of all calls: released brought nothing, expired lost their process",
        "line",
        _labels(days),
        [
            Series("Released", rates("released"), "orange-500"),
            Series("Expired", rates("expired"), "red-500"),
        ],
        unit="%",
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def _ranked(title: str, by_model: list[tuple[Any, ...]], column: int, unit: str = "") -> Chart:
    """The models with the highest values, the highest first."""
    ranked = sorted(by_model, key=lambda row: (-row[column], row[0]))
    top = [(row[0], row[column]) for row in ranked[:TOP_MODELS]]
    if others := ranked[TOP_MODELS:]:
        top.append((f"{len(others)} others", sum(row[column] for row in others)))
    values = [_value(value, unit) for _, value in top]
    labels = [name for name, _ in top]
    return Chart(title, f"In {DAYS} days", "bar", labels, [Series(title, values)], unit)


def _value(amount: int, unit: str) -> float:
    return usd(amount) if unit else float(amount)


def _labels(days: Iterable[date]) -> list[str]:
    return [f"{day:%d %b}" for day in days]


def _cents(nusd: int) -> str:
    """A sum, rounded to the cent."""
    return usd_text(round(nusd / NUSD_PER_CENT) * NUSD_PER_CENT)
