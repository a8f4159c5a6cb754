"""Usage of the past: calls that were made, held and settled on a day of the test's choice."""

from datetime import UTC, date, datetime, time

from accounts.models import ApiKey, User
from billing.tests import bank
from publicapi.tests.v1.customer import BALANCE_ONLY

NOON = time(12, tzinfo=UTC)


def use(
    account: User,
    key: ApiKey | None,
    day: date,
    *,
    model: str = BALANCE_ONLY,
    cost: int = 1_000,
    tokens_out: int = 10,
    at: time = NOON,
) -> None:
    """A call that was admitted at that time and has cost so many nano-USD; 5 tokens in.

    Without a key it is one of the web app's.
    """
    with bank.at(datetime.combine(day, at)):
        _, charge = bank.hold(account, cost, owner=bank.live_owner(), key=key, model=model)
        assert bank.settle(charge, cost, tokens_out=tokens_out) == "resolved"
