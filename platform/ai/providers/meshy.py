"""Meshy's 3D interface: `text-to-3d` in two stages, and `image-to-3d`.

Protocol: https://docs.meshy.ai, "Text to 3D API" and "Image to 3D API". The preview of a text has
no texture: its refinement has. To delete a task that has ended would delete its result.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ai.providers.errors import RequestRefused
from ai.providers.media import AssetOrder, Stage, failed, no_result, share
from ai.providers.operations import Accepted, Cancelled, OperationState, Pending, Succeeded, Unknown
from ai.providers.payloads import partial_count
from ai.providers.pictures import data_uri
from ai.providers.task_api import TaskId, TaskWire
from ai.providers.unsupported import refuse

# https://www.meshy.ai/api: 1,000 credits cost 20 USD.
_NUSD_PER_CREDIT = 20_000_000
_PATHS: Mapping[Stage, str] = MappingProxyType(
    {"preview": "v2/text-to-3d", "refine": "v2/text-to-3d", "image": "v1/image-to-3d"}
)
_SAYS_BLOCKED = re.compile(r"moderation", re.IGNORECASE)


class _Created(Struct):
    result: TaskId


class _Models(Struct):
    glb: str = ""


class _Error(Struct):
    message: str = ""


class _Task(Struct):
    id: TaskId
    status: str
    progress: float | None = None
    model_urls: _Models | None = None
    thumbnail_url: str | None = None
    task_error: _Error | None = None
    consumed_credits: Raw = Raw()


_decode_created = msgspec.json.Decoder(_Created).decode
_decode_task = msgspec.json.Decoder(_Task).decode


class Meshy(TaskWire):
    """Meshy's interface (an `ai.providers.media.MediaWire` of AssetOrders). It submits nothing
    twice.

    The id of an operation is the path of its task.
    """

    domains = ("meshy.ai",)
    can_cancel = True

    async def submit(self, order: AssetOrder, reference: str, *, seconds: float) -> Accepted:
        """See `OperationWire.submit`."""
        path = _PATHS[order.stage]
        created = await self._tasks.submit(
            path, _body(order), _decode_created, earlier=order.refines, seconds=seconds
        )
        return Accepted(f"{path}/{created.result}")

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        """See `OperationWire.poll`."""
        task = await self._tasks.find(operation_id, _decode_task, seconds=seconds)
        return Unknown() if task is None else _state(task)

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        """See `OperationWire.cancel`. A task that has ended is left as it is."""
        if isinstance(await self.poll(operation_id, seconds=seconds), Pending):
            await self._tasks.delete(operation_id, seconds=seconds)


def _body(order: AssetOrder) -> dict[str, Any]:
    refuse(negative_prompt=order.negative_prompt, seed=order.seed)
    body: dict[str, Any] = {"ai_model": order.model, "moderation": True}
    match order.stage:
        case "preview":
            return body | {"mode": "preview", "prompt": order.prompt}
        case "refine":
            body |= {"mode": "refine", "preview_task_id": order.refines, "enable_pbr": True}
        case "image":
            if order.picture is None:
                raise RequestRefused("A picture is missing.")
            body |= {
                "image_url": data_uri(order.picture),
                "should_texture": order.texture,
                "enable_pbr": order.texture,
            }
    return body | ({"texture_prompt": order.prompt} if order.prompt else {})


def _state(task: _Task) -> OperationState:
    match task.status:
        case "SUCCEEDED":
            if task.model_urls is None or not task.model_urls.glb:
                raise no_result()
            urls = (task.model_urls.glb, task.thumbnail_url or "")
            return Succeeded(tuple(filter(None, urls)), _cost(task), reference=task.id)
        case "FAILED":
            message = task.task_error.message if task.task_error else ""
            return failed(message, blocked=bool(_SAYS_BLOCKED.search(message)))
        case "CANCELED":
            return Cancelled()
    # PENDING, IN_PROGRESS, and what may be added.
    return Pending(share(task.progress))


def _cost(task: _Task) -> int | None:
    consumed = partial_count(task.consumed_credits)
    return None if consumed is None else consumed * _NUSD_PER_CREDIT
