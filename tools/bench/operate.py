"""What operators need: what it costs to watch the service, books of years, and pages over them."""

from bench import admin, counting, kept, seed
from bench.report import Target
from simulator import process

# More than the calls of a minute need: a key makes 120.
ACCOUNTS = 400


def run() -> list[Target]:
    """Measure all of it. The pages are visited over the charges that `kept` leaves."""
    return [*_counting(), *kept.run(), *admin.run()]


def _counting() -> list[Target]:
    keys = [account.key for account in seed.open_accounts(ACCOUNTS)]
    with process.running("--bench") as simulator:
        outcome = counting.measure(simulator, keys)
    print(
        f"Counting takes {outcome.counting * 1e6:.1f} µs of a call of "
        f"{outcome.call * 1e6:.0f} µs\n",
        flush=True,
    )
    share = f"{outcome.share:.1%}"
    return [Target("metrics' cost of a call", share, "<= 2 %", outcome.share <= 0.02)]
