"""Carry out generation jobs on the worker's event loop."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing, asynccontextmanager
from typing import Any, ClassVar
from uuid import UUID

from msgspec.structs import replace

from ai.catalog.selectors import aget_catalog
from ai.catalog.types import Model
from ai.operations.handler import OperationHandler
from ai.operations.types import End, Fetched, Operation, Unusable
from ai.provider_health.errors import ProviderNotAvailable
from ai.providers.errors import ProviderError, ResultExpired, ResultMisplaced, ResultTooLong
from ai.providers.image_operations import ImageOperations
from ai.providers.media import AssetOrder, MediaWire, VideoOrder
from ai.providers.operations import Delivered, OperationWire, Succeeded, Unknown
from ai.providers.registry import get_asset_wire, get_image_wire, get_video_wire
from ai.providers.types import ImageRequest
from billing.units import Units
from common.errors import ServiceUnavailable
from common.threads import in_thread
from media.files.services.media import StoredMedia, store_result
from media.probe.errors import UnusableMedia
from media.probe.types import MediaKind
from studios import provider_orders
from studios.calls import Order, StudioCall, call_of, model_of
from studios.provider_orders import Pictures, pictures_of
from studios.services import completion
from studios.services.completion import GenerationEnd, Results
from studios.types import PROGRESS_STEP, Kind
from work.jobs.running import RunningJob

MAX_IMAGE_BYTES = 50_000_000
MAX_VIDEO_BYTES = 500_000_000
MAX_ASSET_BYTES = 200_000_000
# Seconds until a delivered picture is stored again, after the storage has failed.
STORE_PAUSES = (0.2, 1.0, 3.0, 5.0, 10.0)
# Seconds to copy a result.
COPY_SECONDS = 300.0


class StudioHandler(GenerationEnd, OperationHandler[StudioCall]):
    """Carries out the jobs of one kind."""

    kind: ClassVar[Kind]
    # The order as the provider's wire takes it.
    translate: "ClassVar[staticmethod[[Order, Pictures], Any]]"

    async def call_of(self, job: RunningJob, request: dict[str, Any]) -> StudioCall:
        order = Order.read(request)
        model = model_of(self.kind, order, await aget_catalog())
        return call_of(
            self.kind, request_id=str(job.id), account_id=job.account_id, model=model, order=order
        )

    @asynccontextmanager
    async def order_of(self, call: StudioCall) -> AsyncGenerator[Any, None]:
        async with pictures_of(call.account_id, call.order) as pictures:
            yield self.translate(call.order, pictures)

    async def begin(self, job: RunningJob) -> None:
        await in_thread(completion.begin, job_id=job.id, attempt=job.attempt)

    async def report_progress(self, job: RunningJob, before: Operation, after: Operation) -> None:
        if after.progress is None:
            return
        percent = _step(after.progress)
        if before.progress is None or percent > _step(before.progress):
            await in_thread(completion.report_progress, job_id=job.id, percent=percent)


class ImageHandler(StudioHandler):
    """Makes pictures."""

    kind = Kind.IMAGE
    translate = staticmethod(provider_orders.image_order)

    def wire_of(self, call: StudioCall) -> OperationWire[ImageRequest] | None:
        wire = get_image_wire(call.order.provider)
        return None if wire is None else ImageOperations(wire)

    async def fetch(
        self, operation_id: UUID, call: StudioCall, result: Succeeded | Delivered
    ) -> Fetched | Unusable | Unknown:
        """The pictures that can be used, if there are any."""
        images = result.images if isinstance(result, Delivered) else ()
        files: list[StoredMedia] = []
        seeds: list[int | None] = []
        problem: UnusableMedia | ServiceUnavailable = UnusableMedia("There is no picture.")
        for image in images[: call.order.terms.quantity]:
            try:
                files.append(await _store_delivered(call, image.data))
                seeds.append(_repeatable(image.seed, call.model))
            except (UnusableMedia, ServiceUnavailable) as error:
                problem = error
        if files:
            return Fetched(Results(tuple(files), tuple(seeds)))
        if isinstance(problem, UnusableMedia):
            return Unusable(str(problem))
        raise problem

    def bill_of(self, call: StudioCall, result: Succeeded | None, end: End) -> tuple[int, Units]:
        """The pictures that are delivered."""
        delivered = len(end.outputs.files)
        return call.order.terms.cost_of(delivered), {"images": delivered}


class MediaHandler(StudioHandler):
    """Makes what a provider takes minutes for, and shows at a URL."""

    media: ClassVar[MediaKind]
    max_bytes: ClassVar[int]

    @abstractmethod
    def wire_of(self, call: StudioCall) -> MediaWire[Any] | None:
        """The provider's wire, None where the provider is not configured any more."""

    async def fetch(
        self, operation_id: UUID, call: StudioCall, result: Succeeded | Delivered
    ) -> Fetched | Unusable | Unknown:
        if isinstance(result, Delivered) or not result.urls:
            return Unusable("There is no result.")
        try:
            file = await self._copy(call, result.urls[0], self.media, self.max_bytes)
        except ResultExpired:
            return Unknown()
        except (ResultMisplaced, ResultTooLong, UnusableMedia) as error:
            return Unusable(str(error))
        whole = await self._with_preview(call, file, result)
        # Their providers tell no seed, and use the one that was sent.
        return Fetched(Results((whole,), (call.order.params.get("seed"),), result.reference))

    async def _copy(self, call: StudioCall, url: str, media: MediaKind, limit: int) -> StoredMedia:
        wire = self.wire_of(call)
        if wire is None:
            raise ProviderNotAvailable
        async with aclosing(wire.download(url, limit=limit, seconds=COPY_SECONDS)) as pieces:
            return await _store(call, pieces, media, limit)

    async def _with_preview(
        self, call: StudioCall, file: StoredMedia, result: Succeeded
    ) -> StoredMedia:
        """The file, with the provider's own preview where it has no thumbnail of ours."""
        return file


class VideoHandler(MediaHandler):
    """Makes and extends clips."""

    kind, media, max_bytes = Kind.VIDEO, "video", MAX_VIDEO_BYTES
    translate = staticmethod(provider_orders.video_order)

    def wire_of(self, call: StudioCall) -> MediaWire[VideoOrder] | None:
        return get_video_wire(call.order.provider)


class AssetHandler(MediaHandler):
    """Makes and refines 3D assets."""

    kind, media, max_bytes = Kind.ASSET, "model", MAX_ASSET_BYTES
    translate = staticmethod(provider_orders.asset_order)

    def wire_of(self, call: StudioCall) -> MediaWire[AssetOrder] | None:
        return get_asset_wire(call.order.provider)

    async def _with_preview(
        self, call: StudioCall, file: StoredMedia, result: Succeeded
    ) -> StoredMedia:
        """A preview that cannot be had or used is left out: the asset is what was ordered."""
        if file.thumbnail_id is not None or len(result.urls) < 2:
            return file
        try:
            preview = await self._copy(call, result.urls[1], "image", MAX_IMAGE_BYTES)
        except (ProviderError, UnusableMedia):
            return file
        return replace(file, thumbnail_id=preview.thumbnail_id)


async def _store(
    call: StudioCall, pieces: AsyncIterable[bytes], media: MediaKind, limit: int
) -> StoredMedia:
    return await store_result(account_id=call.account_id, pieces=pieces, kind=media, limit=limit)


async def _store_delivered(call: StudioCall, data: bytes) -> StoredMedia:
    """Store a picture that cannot be fetched again: also where the storage or the database is away
    for a moment. Raises UnusableMedia, ServiceUnavailable."""
    for pause in STORE_PAUSES:
        try:
            return await _store(call, _whole(data), "image", MAX_IMAGE_BYTES)
        except ServiceUnavailable:
            await asyncio.sleep(pause)
    return await _store(call, _whole(data), "image", MAX_IMAGE_BYTES)


def _repeatable(seed: int | None, model: Model) -> int | None:
    """The seed, if an order of the model takes it."""
    most: int = model.params.fields.get("seed", {}).get("maximum", -1)
    return seed if seed is not None and seed <= most else None


async def _whole(data: bytes) -> AsyncGenerator[bytes, None]:
    yield data


def _step(progress: float) -> int:
    """The percent that are told: whole steps, and not 100 before the result is there."""
    percent = int(progress * 100)
    return min(percent - percent % PROGRESS_STEP, 100 - PROGRESS_STEP)
