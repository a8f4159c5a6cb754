"""What an account is granted by its plan and its contract, month by month: a part of the oracle."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime


def month_of(moment: datetime) -> date:
    return moment.date().replace(day=1)


def month_after(month: date) -> datetime:
    """The first moment that no longer belongs to the month."""
    return datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Plan:
    """What a plan grants of each model. `by_contract`: the account's contract goes first."""

    key: str
    api_access: bool
    allowances: Mapping[str, int]
    by_contract: bool = False


@dataclass(frozen=True)
class Terms:
    """On what an account has agreed since then."""

    since: datetime
    plan: Plan
    contract: Mapping[str, int]

    def granted(self, model: str) -> int:
        if self.plan.by_contract and model in self.contract:
            return self.contract[model]
        return self.plan.allowances.get(model, 0)
