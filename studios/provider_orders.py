"""Translates orders of the studios into those of the providers' wires, with their pictures."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import UUID

from ai.providers.media import AssetOrder, Picture, Stage, VideoOrder
from ai.providers.types import ImageRequest
from common.errors import ServiceUnavailable, ValidationFailed
from common.loop_local import LoopLocal
from common.memory_budget import WaitingMemoryBudget
from common.threads import in_thread
from media.files.selectors.references import read_reference
from studios.calls import Order
from studios.pictures import find_picture, key_of, names_in

# The bytes of pictures that an event loop submits at once. A submission takes about four times as
# much memory: the pictures, their base64 and the request. Others wait, up to so many seconds.
_MOST_BYTES = 64_000_000
_WAIT_SECONDS = 30.0

_budget = LoopLocal(lambda: WaitingMemoryBudget(_MOST_BYTES))

# By `key_of` their names.
Pictures = Mapping[str, Picture]


@asynccontextmanager
async def pictures_of(account_id: UUID, order: Order) -> AsyncGenerator[Pictures, None]:
    """The pictures that an order names; let go of them with the context. Raises, on entering,
    ValidationFailed for one that is gone, and ServiceUnavailable, also where too many are
    submitted."""
    try:
        references = {
            key_of(name): await in_thread(find_picture, account_id, name, loc)
            for loc, name in names_in(order.params)
        }
    except ValidationFailed as gone:
        # The job's error has no body whose places could be named.
        raise ValidationFailed(gone.text) from None
    size = sum(reference.file.size for reference in references.values())
    async with AsyncExitStack() as held:
        if references:
            try:
                await held.enter_async_context(_budget.get().take(size, seconds=_WAIT_SECONDS))
            except TimeoutError:
                raise ServiceUnavailable from None
        yield {
            key: Picture(await in_thread(read_reference, reference), reference.media_type)
            for key, reference in references.items()
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
        references=tuple(pictures[key_of(each)] for each in params.get("references", ())),
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
    picture = params.get(name)
    return pictures[key_of(picture)] if picture else None
