"""Translates orders of the studios into those of the providers' wires, with their pictures."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import UUID

from ai.providers.media import AssetOrder, Picture, Stage, VideoOrder
from ai.providers.types import ImageRequest
from common.errors import ServiceUnavailable
from common.loop_local import LoopLocal
from common.memory_budget import WaitingMemoryBudget
from common.threads import in_thread
from media.files.selectors.references import find_reference, read_reference
from studios.calls import Order

# The bytes of pictures that an event loop submits at once. A submission takes about four times as
# much memory: the pictures, their base64 and the request. Others wait, up to so many seconds.
_MOST_BYTES = 64_000_000
_WAIT_SECONDS = 30.0
# Parameters that name one picture.
_SINGLE = ("start_image", "end_image", "image")

_budget = LoopLocal(lambda: WaitingMemoryBudget(_MOST_BYTES))

# By the ids of their uploads.
Pictures = Mapping[str, Picture]


@asynccontextmanager
async def pictures_of(account_id: UUID, order: Order) -> AsyncGenerator[Pictures, None]:
    """The pictures that an order names; let go of them with the context. Raises, on entering,
    UploadNotFound, ValidationFailed, and ServiceUnavailable, also where too many are submitted."""
    params = order.params
    upload_ids = [
        *params.get("references", ()),
        *(params[name] for name in _SINGLE if params.get(name)),
    ]
    references = {
        each: await in_thread(find_reference, account_id, UUID(each)) for each in upload_ids
    }
    size = sum(reference.upload.size for reference in references.values())
    async with AsyncExitStack() as held:
        if references:
            try:
                await held.enter_async_context(_budget.get().take(size, seconds=_WAIT_SECONDS))
            except TimeoutError:
                raise ServiceUnavailable from None
        yield {
            upload_id: Picture(await in_thread(read_reference, reference), reference.media_type)
            for upload_id, reference in references.items()
        }


def image_order(order: Order, pictures: Pictures) -> ImageRequest:
    """The order of pictures."""
    params = order.params
    return ImageRequest(
        model=order.upstream_model,
        prompt=order.prompt,
        n=params["n"],
        size=params["size"],
        quality=params["quality"],
        negative_prompt=params.get("negative_prompt", ""),
        seed=params.get("seed"),
        references=tuple(pictures[each] for each in params.get("references", ())),
    )


def video_order(order: Order, pictures: Pictures) -> VideoOrder:
    """The order of a clip."""
    params = order.params
    return VideoOrder(
        model=order.upstream_model,
        prompt=order.prompt,
        seconds=params["seconds"],
        aspect_ratio=params["aspect_ratio"],
        resolution=params["resolution"],
        negative_prompt=params.get("negative_prompt", ""),
        seed=params.get("seed"),
        audio=params.get("audio"),
        start=_named(params, "start_image", pictures),
        end=_named(params, "end_image", pictures),
        extends=order.continues,
    )


def asset_order(order: Order, pictures: Pictures) -> AssetOrder:
    """The order of a 3D asset."""
    params = order.params
    picture = _named(params, "image", pictures)
    stage: Stage = "refine" if order.continues else "image" if picture else "preview"
    return AssetOrder(
        model=order.upstream_model,
        stage=stage,
        prompt=order.prompt,
        negative_prompt=params.get("negative_prompt", ""),
        texture=params.get("texture", True),
        seed=params.get("seed"),
        picture=picture,
        refines=order.continues,
    )


def _named(params: Mapping[str, Any], name: str, pictures: Pictures) -> Picture | None:
    upload_id = params.get(name)
    return pictures[upload_id] if upload_id else None
