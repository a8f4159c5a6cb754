"""Runway's video interface.

Protocol: https://docs.dev.runwayml.com, "API reference" and "Task failures". A task is polled every
five seconds at most. To delete a task that has ended would delete its result.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ai.providers.errors import RequestRefused
from ai.providers.media import VideoOrder, failed, no_result, share
from ai.providers.operations import Accepted, Cancelled, OperationState, Pending, Succeeded, Unknown
from ai.providers.payloads import Count, sensible
from ai.providers.pictures import data_uri
from ai.providers.task_api import TaskId, TaskWire
from ai.providers.unsupported import refuse

_POLL_SECONDS = 5.0
# https://docs.dev.runwayml.com/guides/pricing: a credit costs 0.01 USD.
_NUSD_PER_CREDIT = 10_000_000
_RESOLUTION = "720p"
_RATIOS: Mapping[str, str] = MappingProxyType(
    {
        "16:9": "1280:720",
        "9:16": "720:1280",
        "4:3": "1104:832",
        "3:4": "832:1104",
        "1:1": "960:960",
        "21:9": "1584:672",
    }
)


class _Created(Struct):
    id: TaskId


class _Cost(Struct):
    credits: Count


class _Task(Struct, rename="camel"):
    status: str
    progress: float | None = None
    output: list[str] | None = None
    cost: Raw = Raw()
    failure: str | None = None
    failure_code: str | None = None


_decode_created = msgspec.json.Decoder(_Created).decode
_decode_task = msgspec.json.Decoder(_Task).decode
_decode_cost = msgspec.json.Decoder(_Cost).decode


class Runway(TaskWire):
    """Runway's interface (an `ai.providers.media.MediaWire` of VideoOrders). It submits nothing
    twice."""

    # The distributions of its results.
    domains = ("runwayml.com", "dnznrvs05pmza.cloudfront.net", "d2jqrm6oza8nb6.cloudfront.net")
    headers = MappingProxyType({"X-Runway-Version": "2024-11-06"})
    can_cancel = True

    async def submit(self, order: VideoOrder, reference: str, *, seconds: float) -> Accepted:
        """See `OperationWire.submit`."""
        path = "image_to_video" if order.start else "text_to_video"
        created = await self._tasks.submit(path, _body(order), _decode_created, seconds=seconds)
        return Accepted(created.id, _POLL_SECONDS)

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        """See `OperationWire.poll`."""
        task = await self._tasks.find(f"tasks/{operation_id}", _decode_task, seconds=seconds)
        return Unknown() if task is None else _state(task)

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        """See `OperationWire.cancel`. A task that has ended is left as it is."""
        if isinstance(await self.poll(operation_id, seconds=seconds), Pending):
            await self._tasks.delete(f"tasks/{operation_id}", seconds=seconds)


def _body(order: VideoOrder) -> dict[str, Any]:
    refuse(
        negative_prompt=order.negative_prompt,
        audio=order.audio,
        last_frame=order.end,
        extension=order.extends,
    )
    if order.resolution != _RESOLUTION or order.aspect_ratio not in _RATIOS:
        raise RequestRefused(
            f"This model makes no video of {order.resolution} and {order.aspect_ratio}."
        )
    body: dict[str, Any] = {
        "model": order.model,
        "promptText": order.prompt,
        "ratio": _RATIOS[order.aspect_ratio],
        "duration": order.seconds,
    }
    if order.seed is not None:
        body["seed"] = order.seed
    if order.start is not None:
        body["promptImage"] = [{"uri": data_uri(order.start), "position": "first"}]
    return body


def _state(task: _Task) -> OperationState:
    match task.status:
        case "SUCCEEDED":
            if not task.output:
                raise no_result()
            return Succeeded(tuple(task.output[:1]), _cost(task))
        case "FAILED":
            is_blocked = (task.failure_code or "").startswith("SAFETY")
            return failed(task.failure, task.failure_code, blocked=is_blocked)
        case "CANCELLED":
            return Cancelled()
    # PENDING, THROTTLED, RUNNING, and what may be added.
    return Pending(share(task.progress, of=1.0), _POLL_SECONDS)


def _cost(task: _Task) -> int | None:
    cost = sensible(_decode_cost, task.cost)
    return None if cost is None else cost.credits * _NUSD_PER_CREDIT
