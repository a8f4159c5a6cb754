"""The last money verb of a call, carried out however often that takes."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import psycopg
import structlog
from django.db import Error as OrmError

from billing.types import Ending, Resolution
from common.backoff import backoff
from common.database import DatabaseUnavailable
from observability.tracing import spans

log = structlog.get_logger(__name__)

# How long it is tried while the database is away; then the last checkpoint is billed.
RETRY_SECONDS = 300.0
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)


async def carry_out(
    ending: Ending, resolve: Callable[[], Awaitable[Resolution]]
) -> Resolution | None:
    """End a charge by `resolve`, which may be repeated.

    None where the database stayed away too long: others will expire the charge.
    """
    with spans.span("settle", charge_id=str(ending.charge_id), status=ending.status) as span:
        resolution = await _carry_out(ending, resolve)
        if resolution is None:
            span.fail("not_resolved")
    return resolution


async def _carry_out(
    ending: Ending, resolve: Callable[[], Awaitable[Resolution]]
) -> Resolution | None:
    give_up_at = time.monotonic() + RETRY_SECONDS
    for pause in backoff(*PAUSES):
        try:
            resolution = await resolve()
        except (DatabaseUnavailable, psycopg.Error, OrmError):
            log.warning("charge.not_resolved", charge_id=str(ending.charge_id), exc_info=True)
            if time.monotonic() > give_up_at:
                log.exception("charge.not_resolved_in_time", charge_id=str(ending.charge_id))
                return None
            await asyncio.sleep(pause)
        else:
            _report(ending, resolution)
            return resolution
    return None


def _report(ending: Ending, resolution: Resolution) -> None:
    """An error in the log for what an operator should look into."""
    if resolution.shortfall or resolution.taken_over:
        log.error(
            "charge.taken_over" if resolution.taken_over else "charge.not_covered",
            charge_id=str(ending.charge_id),
            status=resolution.status,
            shortfall_nusd=resolution.shortfall,
            cost_nusd=ending.cost,
        )
