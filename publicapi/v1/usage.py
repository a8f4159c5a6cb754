"""`GET /v1/usage`: the usage of the account's keys, from the daily rollup."""

from uuid import UUID

import msgspec

from accounts.selectors.api_keys import has_key
from billing.selectors import usage as selectors
from common.money import usd
from publicapi.v1 import usage_schema
from publicapi.v1.authentication import authenticate
from publicapi.v1.errors import InvalidRange, KeyNotFound
from publicapi.v1.exchange import Exchange
from publicapi.v1.usage_csv import usage_csv
from publicapi.v1.usage_schema import (
    KeyUsageRow,
    ModelUsageRow,
    UsageAnswer,
    UsageQuery,
    UsageTotals,
    first_second,
    last_second,
)

# 92 days of 5 keys and 19 models are 8,740 rows. Accounts that created and revoked many keys may
# have more.
MAX_CSV_ROWS = 20_000


async def report_usage(exchange: Exchange) -> None:
    """The report of all keys of the account, or of one. Any of its keys may read it, whatever that
    key may call and spend."""
    holder = await authenticate(exchange)
    query = usage_schema.parse(exchange.query)
    if query.key_id and not await has_key(holder.account_id, query.key_id):
        raise KeyNotFound
    if query.csv:
        await _answer_csv(exchange, holder.account_id, query)
    else:
        await _answer_json(exchange, holder.account_id, query)


async def _answer_json(exchange: Exchange, account_id: UUID, query: UsageQuery) -> None:
    found = await selectors.report_usage(account_id, query.first, query.last, key_id=query.key_id)
    total = found.total
    report = UsageAnswer(
        from_=first_second(query.first),
        to=last_second(query.last),
        totals=UsageTotals(total.requests, total.tokens_in, total.tokens_out, usd(total.billed)),
        by_key=[
            KeyUsageRow(row.key_id, row.name, row.hint, row.requests, usd(row.billed))
            for row in found.by_key
        ],
        by_model=[
            ModelUsageRow(row.model_id, row.requests, usd(row.billed)) for row in found.by_model
        ],
    )
    await exchange.respond(200, msgspec.json.encode(report))


async def _answer_csv(exchange: Exchange, account_id: UUID, query: UsageQuery) -> None:
    rows = await selectors.list_usage(
        account_id, query.first, query.last, key_id=query.key_id, limit=MAX_CSV_ROWS + 1
    )
    if len(rows) > MAX_CSV_ROWS:
        raise InvalidRange(f"That is over {MAX_CSV_ROWS:,} rows. Ask for fewer days, or one key.")
    name = f"usage_{query.first}_{query.last}.csv"
    await exchange.respond(
        200,
        usage_csv(rows),
        [(b"content-disposition", f'attachment; filename="{name}"'.encode())],
        content_type=b"text/csv; charset=utf-8; header=present",
    )
