"""The running calls of one process: their runners, checkpoints and drain.

There is one runtime for each event loop, made on first use; the lifespan of a server only warms and
closes it.
"""

import asyncio
import contextlib
import contextvars
import time
from collections.abc import Coroutine
from typing import Any, TypeVar
from uuid import UUID

import structlog
from django.conf import settings

from ai.inference.metrics import open_calls
from ai.inference.runner import CallRunner
from billing.errors import ChargeResolved
from billing.services import charges
from common.database import DatabaseUnavailable
from common.errors import ServiceUnavailable
from common.loop_local import LoopLocal
from observability.tracing import spans
from work.leases.keeper import get_lease_keeper

log = structlog.get_logger(__name__)

CHECKPOINT_LOOK_SECONDS = 0.5
UNKNOWN_LOOK_SECONDS = 10.0
# Seconds for the last settlements after the drain.
CLOSE_SECONDS = 10.0


AnyRunner = TypeVar("AnyRunner", bound=CallRunner[Any, Any])


class Runtime:
    """Starts runners and supervises them. `owner_id` identifies this process in its charges."""

    def __init__(self) -> None:
        self._lease = get_lease_keeper()
        self.owner_id = self._lease.owner_id
        self.draining = False
        self._refuses = False
        self._runners: dict[UUID, CallRunner[Any, Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._keepers: list[asyncio.Task[None]] = []
        self._has_keepers = False
        self._progress = asyncio.Event()
        self._stop_at = 0.0

    async def start(self, runner: AnyRunner, *, beyond_room: bool = False) -> AnyRunner:
        """Run a call. Raises ServiceUnavailable where there is no room, unless it may go beyond
        that, or no lease."""
        try:
            await self.admit(beyond_room=beyond_room)
        except ServiceUnavailable as refusal:
            runner.refuse(refusal)
            raise
        # Known before it holds: held charges that no runner knows are expired.
        self._runners[runner.charge_id] = runner
        self.spawn(self._run(runner.charge_id, runner))
        open_calls.inc()
        return runner

    def find(self, charge_id: UUID) -> CallRunner[Any, Any] | None:
        """The runner of a call that runs in this process."""
        return self._runners.get(charge_id)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do work for a call that outlives its request, and that the drain waits for."""
        # A fresh context, but for the trace: the request's own would keep its thread and database
        # connection alive.
        task = asyncio.get_running_loop().create_task(work, context=spans.fresh_context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def admit(self, *, beyond_room: bool = False) -> None:
        """Return if a call could start now. Raises ServiceUnavailable otherwise, as `start`
        does."""
        is_full = len(self._runners) >= settings.MAX_OPEN_CALLS and not beyond_room
        if self._refuses or is_full:
            raise ServiceUnavailable
        await self._lease.ensure()
        self._start_keepers()

    def note_progress(self) -> None:
        """Note that a call has come far enough for a checkpoint."""
        self._progress.set()

    @property
    def runners(self) -> list[CallRunner[Any, Any]]:
        """The calls that run."""
        return list(self._runners.values())

    @property
    def is_ending(self) -> bool:
        """Does this process drain, or refuse calls?"""
        return self.draining or self._refuses

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Do work beside the calls until the runtime is closed."""
        loop, context = asyncio.get_running_loop(), contextvars.Context()
        self._keepers.append(loop.create_task(work, context=context))

    def begin_drain(self, *, seconds: float | None = None) -> None:
        """Stop the running calls when the drain time is over, and refuse new ones from then on."""
        if not self.draining:
            self.draining = True
            seconds = settings.DRAIN_SECONDS if seconds is None else seconds
            self._stop_at = time.monotonic() + seconds
            asyncio.get_running_loop().call_later(seconds, self._stop_runners)

    def refuse(self) -> None:
        """Refuse new calls from now on."""
        self._refuses = True

    async def drain(self) -> None:
        """Wait for running calls until the drain time is over, then settle the rest."""
        self.begin_drain()
        await self._wait_until(self._stop_at)
        self._stop_runners()
        await self._wait_until(self._stop_at + CLOSE_SECONDS)

    async def close(self) -> None:
        """Drain, and end the lease."""
        await self.drain()
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        # Charges of calls that have not ended by now lapse when the lease expires.
        await (self._lease.stop() if self._tasks else self._lease.end())

    async def _wait_until(self, moment: float) -> None:
        """Wait until all calls have ended, or until that moment."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=max(0.0, moment - time.monotonic()))

    def _stop_runners(self) -> None:
        self.refuse()
        for runner in self._runners.values():
            runner.stop(ServiceUnavailable("The server is restarting. Try again."))

    async def _run(self, charge_id: UUID, runner: CallRunner[Any, Any]) -> None:
        try:
            await runner.run()
        except Exception:
            # A fault of ours. The charge stays held until it is found that no runner knows it;
            # it expires at its last checkpoint.
            log.exception("call.crashed", charge_id=str(charge_id))
            runner.crash()
        finally:
            del self._runners[charge_id]
            open_calls.dec()
            runner.finished.set()

    # --- Tasks beside the calls -------------------------------------------------------------------

    def _start_keepers(self) -> None:
        if not self._has_keepers:
            self._has_keepers = True
            self.keep(self._keep_checkpoints())
            self.keep(self._expire_unknown_charges())

    async def _expire_unknown_charges(self) -> None:
        """Expire the charges of this process that have no runner."""
        while True:
            await asyncio.sleep(UNKNOWN_LOOK_SECONDS)
            try:
                for charge_id in await charges.find_unknown(self.owner_id, self._runners.keys()):
                    # A runner may have been registered since the query was sent.
                    if charge_id not in self._runners:
                        log.warning("charge.unknown_to_its_owner", charge_id=str(charge_id))
                        await charges.expire(charge_id)
            except DatabaseUnavailable:
                log.warning("charges.not_looked_through")
            except Exception:
                log.exception("charges.not_looked_through")

    async def _keep_checkpoints(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                # Not wait_for, which may forget a cancellation before Python 3.12.
                async with asyncio.timeout(CHECKPOINT_LOOK_SECONDS):
                    await self._progress.wait()
            self._progress.clear()
            due = [
                (runner.owner_id, progress)
                for runner in self._runners.values()
                if (progress := runner.progress_to_save())
            ]
            if not due:
                continue
            try:
                owners, progress_of_all = zip(*due, strict=True)
                lost = await charges.checkpoint(set(owners), progress_of_all)
            except DatabaseUnavailable:
                log.warning("checkpoint.not_saved", calls=len(due))
                continue
            except Exception:
                # Nothing ends this loop: without checkpoints a crash would lose the cost of what
                # was streamed.
                log.exception("checkpoint.not_saved", calls=len(due))
                continue
            for charge_id in lost:
                if runner := self._runners.get(charge_id):
                    runner.stop(ChargeResolved())


_runtimes = LoopLocal(Runtime)


def get_runtime() -> Runtime:
    """The running event loop's runtime."""
    return _runtimes.get()
