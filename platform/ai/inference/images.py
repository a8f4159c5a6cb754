"""An image call: pictures made, stored in our files, and billed by the picture."""

import asyncio
from typing import cast
from uuid import UUID

import structlog

from ai.catalog.pricing import image_cost
from ai.catalog.types import ImagePrice
from ai.inference.runner import CallRunner
from ai.inference.types import ImageAnswer, ImageCall
from ai.provider_health.permit import Permit
from ai.providers.errors import AnswerUnusable, UpstreamError
from ai.providers.types import Deadlines, Image, ImageRequest, ImageWire
from billing.types import Ending
from common.errors import DomainError
from media.files.errors import StorageUnavailable
from media.files.services.media import store_picture
from media.probe.errors import UnusableMedia

log = structlog.get_logger(__name__)

# An answer can be replayed for a day, and the link in a replay is good for a day. The additional
# hour covers delays.
KEEP_SECONDS = 49 * 3600
# With the 170 s of the call and the 2 s of the settlement, the answer comes within 180 s.
STORE_SECONDS = 7.0


class ImageRunner(CallRunner[ImageCall, ImageAnswer]):
    """Runs one image call."""

    answer_type = ImageAnswer

    def __init__(self, call: ImageCall, wire: ImageWire, permit: Permit, owner_id: UUID) -> None:
        super().__init__(call, permit, owner_id)
        self._wire = wire
        self._price = cast(ImagePrice, call.model.price)
        self._files: list[str] = []

    async def _call_provider(self, seconds: float) -> None:
        call = self.call
        request = ImageRequest(
            call.model.upstream_model, call.prompt, call.n, call.size, call.quality
        )
        pictures = await self._wire.generate(request, Deadlines(total=seconds))
        files: list[str] = []
        try:
            async with asyncio.timeout(STORE_SECONDS):
                await self._store(pictures[: call.n], files)
        except TimeoutError:
            log.warning("images.not_stored_in_time", request_id=call.request_id)
            if not files:
                raise StorageUnavailable from None
        # Set at the end: a call that is stopped earlier returns nothing, and bills nothing.
        self._files = files

    async def _store(self, pictures: list[Image], files: list[str]) -> None:
        """Append the files of the pictures that could be stored. Raises where no picture could
        be."""
        failures: list[DomainError | UpstreamError] = []

        async def store(picture: Image) -> None:
            try:
                name = await store_picture(
                    account_id=self.call.account_id, data=picture.data, keep_seconds=KEEP_SECONDS
                )
            except UnusableMedia as error:
                log.warning("images.unusable", request_id=self.call.request_id, reason=str(error))
                text = f"The provider sent no picture: {error}"
                failures.append(AnswerUnusable(text))
            except DomainError as error:
                # Ours comes first: the provider's own may have been sound.
                failures.insert(0, error)
            else:
                files.append(name)

        await asyncio.gather(*map(store, pictures))
        if failures and not files:
            raise failures[0]

    def _outcome(self) -> tuple[ImageAnswer, Ending] | None:
        if not self._files:
            return None
        count = len(self._files)
        cost = image_cost(self._price, self.call.quality, count)
        return ImageAnswer(self._files), self._settlement(cost, {"images": count})
