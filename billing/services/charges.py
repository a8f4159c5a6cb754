"""The steps of a call's charge: hold, checkpoint, settle, release, expire.

Each is one SQL function of `billing/sql/`; holds and endings of concurrent calls share a round trip
and a commit. All may raise DatabaseUnavailable; the outcome is then unknown, and every step may be
repeated.
"""

from collections.abc import Collection, Sequence
from typing import Any, Generic, TypeVar
from uuid import UUID

import psycopg

from ai.catalog.selectors import aget_catalog
from billing.errors import AnswerLost
from billing.hold_errors import HELD, SHORTAGE, Shortage, concerns_money, refusal_of
from billing.services.endings import EXPIRE, RESOLVE
from billing.services.holds import HOLD
from billing.types import (
    Checkpoint,
    Ending,
    HoldRequest,
    RequestKey,
    Resolution,
    StoredAnswer,
    UndeliveredCall,
    as_json,
    columns_of,
)
from common.batching import Batcher
from common.database import Row, get_database
from common.loop_local import LoopLocal
from observability.tracing import spans

Item = TypeVar("Item", HoldRequest, Ending)

_HOLD_IDEMPOTENTLY = "SELECT * FROM money_hold_idempotently(%s,%s,%s,%s)"
_RESOLVE_UNDELIVERED = "SELECT * FROM money_resolve_undelivered(%s,%s,%s)"
_RESOLVE_IDEMPOTENTLY = "SELECT * FROM money_resolve_idempotently(%s,%s,%s,%s)"


async def hold(request: HoldRequest, request_key: RequestKey | None = None) -> StoredAnswer | None:
    """Reserve the worst case of a call, or raise the DomainError that says why not.

    Returns the stored answer if the call of this `request_key` was made before; nothing is held
    then. Raises AnswerLost where that call was billed and has no answer.
    """
    with spans.span("hold", charge_id=str(request.charge_id)):
        return await _hold(request, request_key)


async def _hold(request: HoldRequest, request_key: RequestKey | None) -> StoredAnswer | None:
    if request_key is None:
        await _check(request, await _holds.get().run(request))
        return None
    *row, answer, paid_by, billed = await get_database().row(
        _HOLD_IDEMPOTENTLY, (*columns_of(request_key), as_json(request))
    )
    if row[0] == "replay":
        return StoredAnswer(paid_by, billed, answer)
    if row[0] in ("interrupted", "forgotten"):
        raise AnswerLost(billed, is_interrupted=row[0] == "interrupted")
    await _check(request, row)
    return None


async def _check(request: HoldRequest, row: Sequence[Any]) -> None:
    if row[0] == HELD:
        return
    shortage = None
    if concerns_money(row):
        shortage = Shortage.of(*await get_database().row(SHORTAGE, (as_json(request),)))
    raise refusal_of(request, row, shortage, await aget_catalog())


async def resolve(
    ending: Ending,
    request_key: RequestKey | None = None,
    answer: bytes | None = None,
    *,
    undelivered: UndeliveredCall | None = None,
) -> Resolution:
    """End a call: bill what it used, or nothing. `answer` is kept if the call is billed and has a
    `request_key` or is `undelivered`.

    Releasing is right too where the outcome of the hold is unknown: a charge that does not exist is
    ignored.
    """
    if undelivered is not None:
        outcome, *values = await get_database().row(
            _RESOLVE_UNDELIVERED, (as_json(undelivered), answer, as_json(ending))
        )
    elif request_key is None:
        outcome, *values = await _endings.get().run(ending)
    else:
        outcome, *values = await get_database().row(
            _RESOLVE_IDEMPOTENTLY,
            (request_key.route, request_key.key, answer, as_json(ending)),
        )
    return Resolution(outcome == "resolved", *values)


async def expire(charge_id: UUID) -> None:
    """End a call that nobody runs any more: bill its last checkpoint, or release it."""
    await get_database().row(EXPIRE, (charge_id, None))


async def begin(charge_id: UUID, job_id: UUID, *, seconds: int) -> bool:
    """Begin a call on a charge that was held for a job (`holds.hold_for_job`): its deadline is so
    many seconds from now, or later. False where the charge has ended or lapsed."""
    is_held: bool
    (is_held,) = await get_database().row(
        "SELECT charge_begin(%s, %s, %s)", (charge_id, job_id, seconds)
    )
    return is_held


async def checkpoint(owner_ids: Collection[UUID], progress: Sequence[Checkpoint]) -> set[UUID]:
    """Save the progress of calls of these owners: a process, and the jobs that it runs. Returns the
    charges that are not theirs any more."""
    rows = await _checkpoints.get().rows(
        "SELECT * FROM money_checkpoint(%s, %s)", (list(owner_ids), as_json(progress))
    )
    return {row[0] for row in rows}


async def find_unknown(owner_id: UUID, known: Collection[UUID]) -> list[UUID]:
    """Charges that this process holds without knowing: the replies to their holds were lost."""
    rows = await get_database().rows(
        "SELECT * FROM unknown_charges(%s, %s::uuid[])", (owner_id, list(known))
    )
    return [row[0] for row in rows]


class _Batches(Generic[Item]):
    """The holds, or the endings, of one event loop, which go to the database in batches.

    An item that its batch could not do, because of a locked wallet or an error in another item, is
    sent alone.
    """

    def __init__(self, *, one: str, many: str, name: str) -> None:
        self._one, self._many = one, many
        self._database = get_database()
        self._lane = self._database.lane()
        self._batcher: Batcher[Item, Row | None] = Batcher(self._run_many, name=name)

    async def run(self, item: Item) -> Row:
        row = await self._batcher.run(item)
        return row or await self._database.row(self._one, (as_json(item),))

    async def _run_many(self, items: list[Item]) -> list[Row | None]:
        """One row per item; None for each item that has to be sent alone."""
        try:
            rows = await self._lane.rows(self._many, (as_json(items),))
        except psycopg.Error:
            return [None] * len(items)
        return [None if row[0] == "busy" else row for row in rows]


_holds: LoopLocal[_Batches[HoldRequest]] = LoopLocal(
    lambda: _Batches(one=HOLD, many="SELECT * FROM money_hold_many(%s)", name="holds")
)
_endings: LoopLocal[_Batches[Ending]] = LoopLocal(
    lambda: _Batches(one=RESOLVE, many="SELECT * FROM money_resolve_many(%s)", name="endings")
)
# They never queue behind calls: without checkpoints a crash would cost what it streamed.
_checkpoints = LoopLocal(lambda: get_database().lane())
