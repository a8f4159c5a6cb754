"""Translates orders of the studios into those of the providers' wires, with their pictures."""

from typing import Any
from uuid import UUID

from common.threads import in_thread
from files.selectors.uploads import reference_picture
from providers.media import AssetOrder, Picture, Stage, VideoOrder
from providers.types import ImageRequest
from studios.calls import Order


async def image_order(account_id: UUID, order: Order) -> ImageRequest:
    """The order of pictures. Raises UploadNotFound, StorageUnavailable."""
    params = order.params
    references = [
        await _picture(account_id, upload_id) for upload_id in params.get("references", ())
    ]
    return ImageRequest(
        model=order.upstream_model,
        prompt=order.prompt,
        n=params["n"],
        size=params["size"],
        quality=params["quality"],
        negative_prompt=params.get("negative_prompt", ""),
        seed=params.get("seed"),
        references=tuple(references),
    )


async def video_order(account_id: UUID, order: Order) -> VideoOrder:
    """The order of a clip. Raises UploadNotFound, StorageUnavailable."""
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
        start=await _named(account_id, params, "start_image"),
        end=await _named(account_id, params, "end_image"),
        extends=order.continues,
    )


async def asset_order(account_id: UUID, order: Order) -> AssetOrder:
    """The order of a 3D asset. Raises UploadNotFound, StorageUnavailable."""
    params = order.params
    picture = await _named(account_id, params, "image")
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


async def _named(account_id: UUID, params: dict[str, Any], name: str) -> Picture | None:
    upload_id = params.get(name)
    return await _picture(account_id, upload_id) if upload_id else None


async def _picture(account_id: UUID, upload_id: str) -> Picture:
    _, data, media_type = await in_thread(reference_picture, account_id, UUID(upload_id))
    return Picture(data, media_type)
