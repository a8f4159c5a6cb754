"""The orders of videos and 3D models, and the interface of the providers that make them."""

from collections.abc import AsyncGenerator
from typing import Literal, Protocol, TypeVar

from msgspec import Struct

from ai.providers.error_answers import presentable
from ai.providers.errors import UpstreamError
from ai.providers.operations import Accepted, Failed, OperationWire
from ai.providers.types import Image

# A picture that comes with an order: PNG, JPEG or WebP.
Picture = Image

Stage = Literal["preview", "refine", "image"]

Order = TypeVar("Order", contravariant=True)


class VideoOrder(Struct, frozen=True, kw_only=True):
    """A clip of `seconds`.

    `model` is the provider's own id, `aspect_ratio` is like `16:9` and `resolution` like `720p`.
    `audio` is None for the provider's default. `start` and `end` are the first and the last frame;
    `extends` is the `Succeeded.reference` of the clip that is extended.
    """

    model: str
    prompt: str
    seconds: int
    aspect_ratio: str
    resolution: str
    negative_prompt: str = ""
    seed: int | None = None
    audio: bool | None = None
    start: Picture | None = None
    end: Picture | None = None
    extends: str = ""


class AssetOrder(Struct, frozen=True, kw_only=True):
    """A 3D model: of a text (`preview`), of another model that gets a new texture (`refine`), or of
    a picture (`image`).

    `model` is the provider's own id. `refines` is the `Succeeded.reference` of the model that is
    refined; without a prompt, its own prompt counts.
    """

    model: str
    stage: Stage
    prompt: str = ""
    negative_prompt: str = ""
    texture: bool = True
    seed: int | None = None
    picture: Picture | None = None
    refines: str = ""


class MediaWire(OperationWire[Order], Protocol[Order]):
    """One provider's interface. An order with a field that the provider does not take is a
    RequestRefused of `submit`, and nothing is sent."""

    async def submit(self, order: Order, reference: str, *, seconds: float) -> Accepted:
        """See `OperationWire.submit`."""
        ...

    def download(self, url: str, *, limit: int, seconds: float) -> AsyncGenerator[bytes, None]:
        """The bytes of a result in pieces, at most `limit` of them.

        Only the provider's own URLs are followed. Raises ResultExpired, ResultMisplaced,
        ResultTooLong, and other ProviderErrors.
        """
        ...


def failed(message: str | None, *codes: str | None, blocked: bool = False) -> Failed:
    """The end of an operation that failed, with the provider's own `message` and `codes`."""
    usual = "The provider's moderation refused this." if blocked else "The provider failed."
    return Failed(presentable(message or "") or usual, tuple(filter(None, codes)), blocked)


def no_result() -> UpstreamError:
    """The error of a success without a URL. Another poll may bring one."""
    return UpstreamError("The provider named no result.")


def share(done: float | None, *, of: float = 100.0) -> float | None:
    """A progress, in percent where nothing else is said, as a number between 0 and 1."""
    return None if done is None else min(max(done / of, 0.0), 1.0)
