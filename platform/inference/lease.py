"""A process's lease: as long as it is renewed, the charges that the process holds are its own."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import structlog

from billing.services import charges
from common.database import DatabaseUnavailable
from inference.runner import CallRunner

log = structlog.get_logger(__name__)

# What billing/sql/20_leases.sql grants with each renewal.
LEASE_SECONDS = 30.0
HEARTBEAT_SECONDS = 10.0
RETRY_SECONDS = 1.0
# A call is not started on a lease that is about to run out: its charge would be born lapsed.
MARGIN_SECONDS = 5.0


class Lease:
    """Renews the lease of `owner_id`, and ends what the process holds without knowing. `kind` says
    what sort of process it is."""

    def __init__(self, owner_id: UUID, runners: Mapping[UUID, CallRunner[Any, Any]]) -> None:
        self.kind = "web"
        self._owner_id = owner_id
        self._runners = runners
        self._until = 0.0
        self._renewing = asyncio.Lock()

    @property
    def was_taken(self) -> bool:
        return self._until > 0

    async def ensure(self) -> None:
        """Return with a lease that is good for a while. Raises DatabaseUnavailable."""
        if time.monotonic() < self._until - MARGIN_SECONDS:
            return
        async with self._renewing:
            if time.monotonic() >= self._until - MARGIN_SECONDS:
                await self._renew()

    async def keep(self) -> None:
        """Renew the lease for ever. Nothing ends this: without it every call here would be lost."""
        pause = HEARTBEAT_SECONDS
        while True:
            await asyncio.sleep(pause)
            try:
                for charge_id in await self._renew():
                    await self._expire(charge_id)
                pause = HEARTBEAT_SECONDS
            except DatabaseUnavailable:
                log.warning("lease.not_renewed")
                pause = RETRY_SECONDS
            except Exception:
                log.exception("lease.not_renewed")
                pause = RETRY_SECONDS

    async def end(self) -> None:
        """Give the lease up; where the database is away, it runs out by itself."""
        try:
            await charges.end_lease(self._owner_id)
        except DatabaseUnavailable:
            log.warning("lease.not_ended")

    async def _renew(self) -> set[UUID]:
        """Renew. Returns the charges that are held for this process and that it does not know."""
        asked_at = time.monotonic()
        unknown = await charges.renew_lease(self._owner_id, self.kind, self._runners.keys())
        self._until = asked_at + LEASE_SECONDS
        return unknown

    async def _expire(self, charge_id: UUID) -> None:
        if charge_id in self._runners:
            return
        log.warning("charge.unknown_to_its_owner", charge_id=str(charge_id))
        await charges.expire(charge_id)
