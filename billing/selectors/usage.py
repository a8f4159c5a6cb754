"""What was used through API keys, as `GET /v1/usage` reports it."""

from datetime import date
from uuid import UUID

from msgspec import Struct

from common.database import get_database


class TotalUsage(Struct, frozen=True):
    """What calls used, and what was billed for them in nano-USD."""

    requests: int
    tokens_in: int
    tokens_out: int
    billed: int


class KeyUsage(Struct, frozen=True):
    """What was billed through one key, in nano-USD. `hint` is its last four characters."""

    key_id: UUID
    name: str
    hint: str
    requests: int
    billed: int


class ModelUsage(Struct, frozen=True):
    """What was billed for one model, in nano-USD."""

    model_id: str
    requests: int
    billed: int


class UsageReport(Struct, frozen=True):
    """Usage through API keys, the dearest first; each of the lists adds up to `total`."""

    total: TotalUsage
    by_key: list[KeyUsage]
    by_model: list[ModelUsage]


class DayUsage(Struct, frozen=True):
    """What one key used of one model on one UTC day; `billed` in nano-USD."""

    day: date
    key_id: UUID
    name: str
    hint: str
    model_id: str
    requests: int
    tokens_in: int
    tokens_out: int
    billed: int


async def report_usage(
    account_id: UUID, first: date, last: date, *, key_id: UUID | None = None
) -> UsageReport:
    """What the account's keys, or one of them, used from the first UTC day to the last.

    The web app's usage, which has no key, is left out.
    """
    rows = await get_database().rows(
        "SELECT api_key_id, k.name, k.hint, model_id, requests, tokens_in, tokens_out, billed"
        " FROM (SELECT api_key_id, model_id, coalesce(sum(requests), 0)::bigint AS requests,"
        " coalesce(sum(tokens_in), 0)::bigint AS tokens_in,"
        " coalesce(sum(tokens_out), 0)::bigint AS tokens_out,"
        " coalesce(sum(billed), 0)::bigint AS billed FROM billing_usagedaily"
        " WHERE account_id = %s AND day BETWEEN %s AND %s AND api_key_id IS NOT NULL"
        " AND (%s::uuid IS NULL OR api_key_id = %s)"
        " GROUP BY GROUPING SETS ((), (api_key_id), (model_id))) used"
        " LEFT JOIN accounts_apikey k ON k.id = api_key_id"
        " ORDER BY billed DESC, requests DESC, api_key_id, model_id",
        (account_id, first, last, key_id, key_id),
    )
    total = TotalUsage(0, 0, 0, 0)
    by_key: list[KeyUsage] = []
    by_model: list[ModelUsage] = []
    for used_key, name, hint, model_id, requests, tokens_in, tokens_out, billed in rows:
        if used_key is not None:
            by_key.append(KeyUsage(used_key, name, hint, requests, billed))
        elif model_id is not None:
            by_model.append(ModelUsage(model_id, requests, billed))
        else:
            total = TotalUsage(requests, tokens_in, tokens_out, billed)
    return UsageReport(total, by_key, by_model)


async def list_usage(
    account_id: UUID, first: date, last: date, *, key_id: UUID | None = None, limit: int
) -> list[DayUsage]:
    """The rows behind the same report, day by day; at most the first `limit` of them."""
    rows = await get_database().rows(
        "SELECT day, api_key_id, k.name, k.hint, model_id, requests, tokens_in, tokens_out, billed"
        " FROM (SELECT * FROM billing_usagedaily"
        " WHERE account_id = %s AND day BETWEEN %s AND %s AND api_key_id IS NOT NULL"
        " AND (%s::uuid IS NULL OR api_key_id = %s)"
        " ORDER BY day, api_key_id, model_id LIMIT %s) used"
        " JOIN accounts_apikey k ON k.id = api_key_id ORDER BY day, api_key_id, model_id",
        (account_id, first, last, key_id, key_id, limit),
    )
    return [DayUsage(*row) for row in rows]
