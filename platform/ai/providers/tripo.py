"""Tripo's 3D interface: pictures are uploaded first, and a finished model can get a new texture.

Protocol: https://platform.tripo3d.ai/docs, "Generation" and "Task". An answer has a code, which is
zero where all went well.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ai.providers.errors import RequestRefused
from ai.providers.forms import FormFile, multipart
from ai.providers.media import AssetOrder, Picture, failed, no_result, share
from ai.providers.operations import Accepted, Cancelled, OperationState, Pending, Succeeded, Unknown
from ai.providers.payloads import partial_count
from ai.providers.task_api import TaskId, TaskWire
from ai.providers.unsupported import refuse

# https://platform.tripo3d.ai/docs/billing: 100 credits cost 1 USD.
_NUSD_PER_CREDIT = 10_000_000
_FILE_TYPES: Mapping[str, str] = MappingProxyType(
    {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}
)


class _NewTask(Struct):
    task_id: TaskId


class _Created(Struct):
    data: _NewTask


class _Token(Struct):
    image_token: str


class _Uploaded(Struct):
    data: _Token


class _Output(Struct):
    """The model is in the first of these that the order leads to: with all materials, with its
    colours, or without a texture."""

    pbr_model: str | None = None
    model: str | None = None
    base_model: str | None = None
    rendered_image: str | None = None


class _Task(Struct):
    task_id: TaskId
    status: str
    progress: float | None = None
    output: _Output | None = None
    error_code: int | None = None
    error_msg: str | None = None
    consumed_credit: Raw = Raw()


class _Found(Struct):
    data: _Task


_decode_created = msgspec.json.Decoder(_Created).decode
_decode_uploaded = msgspec.json.Decoder(_Uploaded).decode
_decode_found = msgspec.json.Decoder(_Found).decode


class Tripo(TaskWire):
    """Tripo's interface (an `ai.providers.media.MediaWire` of AssetOrders). It submits nothing
    twice."""

    domains = ("tripo3d.ai", "tripo3d.com")
    can_cancel = False

    async def submit(self, order: AssetOrder, reference: str, *, seconds: float) -> Accepted:
        """See `OperationWire.submit`. The picture is uploaded first, within `seconds` of its
        own."""
        body = _body(order)
        if order.stage == "image":
            body["file"] = await self._upload(order.picture, seconds)
        created = await self._tasks.submit(
            "task", body, _decode_created, earlier=order.refines, seconds=seconds
        )
        return Accepted(created.data.task_id)

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        """See `OperationWire.poll`."""
        found = await self._tasks.find(f"task/{operation_id}", _decode_found, seconds=seconds)
        return Unknown() if found is None else _state(found.data)

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        """See `OperationWire.cancel`. Tripo cancels nothing."""

    async def _upload(self, picture: Picture | None, seconds: float) -> dict[str, str]:
        """What names an uploaded picture in a task."""
        if picture is None or picture.media_type not in _FILE_TYPES:
            raise RequestRefused("A picture is missing: a PNG, JPEG or WebP.")
        kind = _FILE_TYPES[picture.media_type]
        file = FormFile("file", f"picture.{kind}", picture.media_type, picture.data)
        media_type, form = multipart({}, file)
        uploaded = await self._tasks.upload(
            "upload/sts", media_type, form, _decode_uploaded, seconds=seconds
        )
        return {"type": kind, "file_token": uploaded.data.image_token}


def _body(order: AssetOrder) -> dict[str, Any]:
    body: dict[str, Any] = {"model_version": order.model}
    match order.stage:
        case "preview":
            body |= {"type": "text_to_model", "prompt": order.prompt}
            if order.negative_prompt:
                body["negative_prompt"] = order.negative_prompt
        case "image":
            refuse(prompt=order.prompt, negative_prompt=order.negative_prompt)
            body["type"] = "image_to_model"
        case "refine":
            refuse(negative_prompt=order.negative_prompt)
            body |= {"type": "texture_model", "original_model_task_id": order.refines}
            if order.prompt:
                body["texture_prompt"] = {"text": order.prompt}
    is_textured = order.texture or order.stage == "refine"
    body |= {"texture": is_textured, "pbr": is_textured}
    if order.seed is not None:
        body |= {"texture_seed": order.seed}
        body |= {} if order.stage == "refine" else {"model_seed": order.seed}
    return body


def _state(task: _Task) -> OperationState:
    match task.status:
        case "success":
            return _succeeded(task, task.output or _Output())
        case "failed" | "banned" | "expired":
            code = None if task.error_code is None else str(task.error_code)
            return failed(task.error_msg, code, blocked=task.status == "banned")
        case "cancelled":
            return Cancelled()
        case "unknown":
            return Unknown()
    # queued, running, and what may be added.
    return Pending(share(task.progress))


def _succeeded(task: _Task, output: _Output) -> Succeeded:
    model = output.pbr_model or output.model or output.base_model
    if not model:
        raise no_result()
    urls = (model, output.rendered_image or "")
    consumed = partial_count(task.consumed_credit)
    cost = None if consumed is None else consumed * _NUSD_PER_CREDIT
    return Succeeded(tuple(filter(None, urls)), cost, reference=task.task_id)
