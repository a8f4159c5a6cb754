"""Luma's Dream Machine.

Protocol: https://docs.lumalabs.ai, "API" and "Video generation". Pictures are taken as public URLs
only, which orders do not have. What extends a clip is a clip of its own, of 5 s.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from ai.providers.media import VideoOrder, failed, no_result
from ai.providers.operations import Accepted, OperationState, Pending, Succeeded, Unknown
from ai.providers.task_api import TaskId, TaskWire
from ai.providers.unsupported import refuse

_SAYS_BLOCKED = re.compile(r"moderation", re.IGNORECASE)
_DURATION = re.compile(r"(\d{1,3})s")


class _Created(Struct):
    id: TaskId


class _Assets(Struct):
    video: str | None = None


class _Request(Struct):
    duration: str | None = None


class _Generation(Struct):
    id: TaskId
    state: str
    failure_reason: str | None = None
    assets: _Assets | None = None
    request: _Request | None = None


_decode_created = msgspec.json.Decoder(_Created).decode
_decode_generation = msgspec.json.Decoder(_Generation).decode


class Luma(TaskWire):
    """Luma's interface (an `ai.providers.media.MediaWire` of VideoOrders). It submits nothing
    twice."""

    domains = ("lumalabs.ai", "cdn-luma.com")
    can_cancel = True

    async def submit(self, order: VideoOrder, reference: str, *, seconds: float) -> Accepted:
        """See `OperationWire.submit`."""
        created = await self._tasks.submit(
            "generations/video",
            _body(order),
            _decode_created,
            earlier=order.extends,
            seconds=seconds,
        )
        return Accepted(created.id)

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        """See `OperationWire.poll`."""
        generation = await self._tasks.find(
            f"generations/{operation_id}", _decode_generation, seconds=seconds
        )
        return Unknown() if generation is None else _state(generation)

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        """See `OperationWire.cancel`. Luma deletes the generation, so that it is unknown from then
        on; one that has ended is left as it is."""
        if isinstance(await self.poll(operation_id, seconds=seconds), Pending):
            await self._tasks.delete(f"generations/{operation_id}", seconds=seconds)


def _body(order: VideoOrder) -> dict[str, Any]:
    refuse(
        negative_prompt=order.negative_prompt,
        seed=order.seed,
        audio=order.audio,
        first_frame=order.start,
        last_frame=order.end,
    )
    body: dict[str, Any] = {
        "model": order.model,
        "prompt": order.prompt,
        "aspect_ratio": order.aspect_ratio,
        "resolution": order.resolution,
        "duration": f"{order.seconds}s",
    }
    if order.extends:
        body["keyframes"] = {"frame0": {"type": "generation", "id": order.extends}}
    return body


def _state(generation: _Generation) -> OperationState:
    match generation.state:
        case "completed":
            video = generation.assets and generation.assets.video
            if not video:
                raise no_result()
            return Succeeded((video,), reference=generation.id, seconds=_seconds(generation))
        case "failed":
            reason = generation.failure_reason or ""
            return failed(reason, blocked=bool(_SAYS_BLOCKED.search(reason)))
    # queued, dreaming, and what may be added.
    return Pending()


def _seconds(generation: _Generation) -> float | None:
    request = generation.request or _Request()
    found = _DURATION.fullmatch(request.duration or "")
    return float(found[1]) if found else None
