"""The pictures of a chat request: parts of messages that the model looks at."""

from collections.abc import Mapping
from uuid import UUID

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from ai.providers.types import ImageDetail, Message
from publicapi.v1.bodies import decode_field
from publicapi.v1.chat_body import ContentPart
from publicapi.v1.errors import InvalidBody
from publicapi.v1.pictures import PictureUrl, load_pictures

# The texts and pictures of a message, in their order.
Parts = tuple[str | PictureUrl, ...]


class ImageUrl(Struct):
    """A picture: `url` is a data URL of PNG, JPEG, WebP or GIF, or an https address. `detail` is
    how closely the model looks, where its provider has such a choice."""

    url: str
    detail: ImageDetail | None = None


_decoder = msgspec.json.Decoder(ImageUrl)


def read_parts(content: list[ContentPart], place: str) -> Parts:
    """The parts of a content at `place` that has pictures; empty where it has none. Raises
    InvalidBody."""
    if not any(part.type == "image_url" for part in content):
        return ()
    parts: list[str | PictureUrl] = []
    for index, part in enumerate(content):
        if part.type == "image_url":
            parts.append(_picture(part, f"{place}[{index}].image_url"))
        elif part.type == "text" and part.text:
            parts.append(part.text)
    return tuple(parts)


def _picture(part: ContentPart, place: str) -> PictureUrl:
    if part.image_url is UNSET:
        raise InvalidBody("A part of type `image_url` needs its `image_url`.", param=place)
    sent = decode_field(_decoder, part.image_url, place)
    return PictureUrl(sent.url, sent.detail or "auto", f"{place}.url")


def urls_in(shown: Mapping[int, Parts]) -> list[PictureUrl]:
    """All pictures, in order."""
    return [part for parts in shown.values() for part in parts if isinstance(part, PictureUrl)]


async def with_pictures(
    messages: tuple[Message, ...], shown: Mapping[int, Parts], owner: UUID
) -> tuple[Message, ...]:
    """The messages with the pictures that they show: `shown` has the parts of those with pictures,
    by their place among the messages. Raises InvalidBody and ServiceUnavailable."""
    if not shown:
        return messages
    images = iter(await load_pictures(urls_in(shown), owner))
    complete = [*messages]
    for index, parts in shown.items():
        loaded = tuple(part if isinstance(part, str) else next(images) for part in parts)
        complete[index] = replace(messages[index], parts=loaded)
    return tuple(complete)
