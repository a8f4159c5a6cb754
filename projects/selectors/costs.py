"""What a run has cost, by those who were paid."""

from collections import defaultdict
from collections.abc import Mapping
from uuid import UUID

from msgspec import Struct

from billing.selectors.charges import ChargeUsage
from projects.models import Run
from projects.selectors.candidate_models import vendor_of


class VendorCost(Struct, frozen=True, kw_only=True):
    """The calls of one vendor's models that were billed; `cost` is what was paid, in nano-USD."""

    vendor: str
    cost: int
    calls: int
    tokens_in: int
    tokens_out: int


def costs_by_vendor(run: Run, usage: Mapping[UUID, ChargeUsage]) -> list[VendorCost]:
    """The costs of a run, the greatest first; together they are what the run has cost. `usage` is
    by the ids of its steps."""
    calls: defaultdict[str, list[ChargeUsage]] = defaultdict(list)
    for step_id, used in usage.items():
        calls[vendor_of(run.rows.steps[step_id].model)].append(used)
    costs = [
        VendorCost(
            vendor=vendor,
            cost=sum(each.billed for each in used),
            calls=len(used),
            tokens_in=sum(each.input_tokens for each in used),
            tokens_out=sum(each.output_tokens for each in used),
        )
        for vendor, used in calls.items()
    ]
    return sorted(costs, key=lambda each: (-each.cost, each.vendor))
