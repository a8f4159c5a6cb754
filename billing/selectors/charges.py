"""The usage and cost of calls, for apps that keep rows about their calls."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, QuerySet, Subquery, Sum
from msgspec import Struct

from accounts.models import User
from billing.models import Charge
from billing.queries import fetch_rows

_PAID = F("charge_plan") + F("charge_balance")
_BILLED = (Charge.Status.SETTLED, Charge.Status.EXPIRED)

# In the order of ChargeUsage. A conversation asks for thousands of charges: as one array instead of
# thousands of parameters, and formatted here, which takes a third of the driver's time.
_USAGE = """
SELECT id, coalesce(tokens_in, 0), coalesce(tokens_out, 0), coalesce(reasoning_tokens, 0),
       coalesce(cached_tokens, 0), cost, charge_plan, charge_balance, coalesce(seconds, 0)
  FROM billing_charge, jsonb_to_record(units) AS used
       (tokens_in int, tokens_out int, reasoning_tokens int, cached_tokens int, seconds int)
 WHERE account_id = %s AND id = ANY(%s::uuid[]) AND status = ANY(%s)
"""


def has_open_charges(account_id: UUID) -> bool:
    """Does anything hold money, or an allowance, of the account?"""
    return Charge.objects.filter(account_id=account_id, status=Charge.Status.HELD).exists()


class ChargeUsage(Struct, frozen=True):
    """A billed call. `seconds` are of audio. `cost` is at the listed rate, `plan` and `balance` are
    what was paid; all in nano-USD."""

    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cached_tokens: int
    cost: int
    plan: int
    balance: int
    seconds: int = 0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def billed(self) -> int:
        """The sum that was paid."""
        return self.plan + self.balance


class ChargeState(Struct, frozen=True):
    """How far a charge has come: what is held, and what was billed, in nano-USD."""

    status: str
    held: int
    billed: int


def get_states(charge_ids: Collection[UUID]) -> dict[UUID, ChargeState]:
    """The charges with those ids, ended or not."""
    rows = Charge.objects.filter(pk__in=charge_ids).values_list(
        "pk", "status", F("hold_plan") + F("hold_balance"), _PAID
    )
    return {charge_id: ChargeState(*state) for charge_id, *state in rows}


def get_failures(charge_ids: Collection[UUID]) -> dict[UUID, str]:
    """Why calls failed, in a few words for operators: our code, the provider, the HTTP status and
    codes of its answer, and the attempts. Charges without a failure are left out."""
    rows = Charge.objects.filter(pk__in=charge_ids, failure__isnull=False)
    return {
        charge_id: _in_words(failure)
        for charge_id, failure in rows.values_list("pk", "failure")
        if failure is not None
    }


def _in_words(failure: dict[str, Any]) -> str:
    attempts = f"{failure['attempts']} attempts" if failure.get("attempts") else None
    words = [failure["code"], *(failure.get(name) for name in ("provider", "status", "reason"))]
    return ", ".join(str(word) for word in (*words, attempts) if word)


def get_usage(user: User, charge_ids: Collection[UUID]) -> dict[UUID, ChargeUsage]:
    """The user's billed charges among those ids."""
    ids = ",".join(charge_id.hex for charge_id in charge_ids)
    rows = fetch_rows(_USAGE, user.pk, f"{{{ids}}}", [*_BILLED])
    return {charge_id: ChargeUsage(*used) for charge_id, *used in rows}


def get_billed(user: User, calls: QuerySet[Any]) -> int:
    """The sum that was paid for the user's charges with the ids of these rows, however many; in
    nano-USD."""
    return int(_charges_of(user, calls).aggregate(paid=Sum(_PAID))["paid"] or 0)


def get_billed_by(user: User, calls: QuerySet[Any], field: str) -> dict[Any, int]:
    """Like `get_billed`, for each value of that field of the rows; values without charges are left
    out."""
    value = Subquery(calls.filter(pk=OuterRef("pk")).values(field))
    sums = _charges_of(user, calls).values(of=value).annotate(paid=Sum(_PAID))
    return {of: int(paid) for of, paid in sums.values_list("of", "paid")}


def _charges_of(user: User, calls: QuerySet[Any]) -> QuerySet[Charge]:
    return Charge.objects.filter(account=user, pk__in=calls.values("pk"))
