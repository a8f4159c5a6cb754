"""The lease of this process, which keeps the charges and jobs of the process."""

import asyncio
import contextvars
import time
from uuid import UUID, uuid4

import structlog

from common.database import DatabaseUnavailable, get_database
from common.loop_local import LoopLocal

log = structlog.get_logger(__name__)

# What lease_renew grants (sql/10_leases.sql).
LEASE_SECONDS = 30.0
HEARTBEAT_SECONDS = 10.0
RETRY_SECONDS = 1.0
# Nothing is begun on a lease that is about to expire: it would be born lapsed.
MARGIN_SECONDS = 5.0


class LeaseKeeper:
    """Takes the lease of one event loop's process when it is first needed, and renews it from then
    on. `owner_id` names the process in its charges and jobs; `kind` is the sort of process."""

    def __init__(self) -> None:
        self.owner_id = uuid4()
        self.kind = "web"
        # A lane, because a renewal that queued behind calls might come too late.
        self._lane = get_database().lane()
        self._expires_at = 0.0
        self._renewing = asyncio.Lock()
        self._keeping: asyncio.Task[None] | None = None

    async def ensure(self) -> None:
        """Return with a lease that is good for a while. Raises DatabaseUnavailable."""
        if time.monotonic() < self._expires_at - MARGIN_SECONDS:
            return
        async with self._renewing:
            if time.monotonic() >= self._expires_at - MARGIN_SECONDS:
                await self._renew()
        if self._keeping is None:
            self._keeping = asyncio.get_running_loop().create_task(
                self._keep(), context=contextvars.Context()
            )

    async def stop(self) -> None:
        """Renew the lease no more: it expires by itself."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)

    async def end(self) -> None:
        """End the lease, if there is one; where the database is away, it expires by itself."""
        await self.stop()
        if not self._expires_at:
            return
        try:
            await get_database().rows("SELECT lease_end(%s)", (self.owner_id,))
        except DatabaseUnavailable:
            log.warning("lease.not_ended")

    async def _keep(self) -> None:
        """Only a cancellation ends this: without the lease every call and job here would be
        lost."""
        pause = HEARTBEAT_SECONDS
        while True:
            await asyncio.sleep(pause)
            try:
                await self._renew()
                pause = HEARTBEAT_SECONDS
            except DatabaseUnavailable:
                log.warning("lease.not_renewed")
                pause = RETRY_SECONDS
            except Exception:
                log.exception("lease.not_renewed")
                pause = RETRY_SECONDS

    async def _renew(self) -> None:
        asked_at = time.monotonic()
        await self._lane.rows("SELECT lease_renew(%s, %s)", (self.owner_id, self.kind))
        self._expires_at = asked_at + LEASE_SECONDS


_keepers = LoopLocal(LeaseKeeper)


def get_lease_keeper() -> LeaseKeeper:
    """The keeper of the running event loop's process."""
    return _keepers.get()


async def ensure_lease() -> UUID:
    """The owner that this process is, with a lease that is good for a while. Raises
    DatabaseUnavailable."""
    keeper = get_lease_keeper()
    await keeper.ensure()
    return keeper.owner_id
