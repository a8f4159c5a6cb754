"""Inspects pictures, and makes thumbnails."""

import io
from typing import IO

from PIL import Image

from media.probe.bounds import THUMBNAIL_SIDE, check_size
from media.probe.errors import UnusableMedia
from media.probe.headers import Header, read_header
from media.probe.types import Facts, Inspected

_FORMATS = ("JPEG", "PNG", "WEBP")
_QUALITY = 80
# The modes that are made smaller as they are. Palettes and masks have no colours between others.
_SMOOTH = ("CMYK", "L", "RGB", "RGBA", "YCbCr")


def load() -> None:
    """Import what Pillow imports lazily."""
    Image.init()


def inspect(file: IO[bytes]) -> Inspected:
    """Decode a picture. Raises UnusableMedia, and whatever Pillow raises for a broken one.

    The size is checked before there is a decoder: some reserve memory for all pixels at once.
    """
    header = read_header(file)
    if header is None:
        raise UnusableMedia("It is no PNG, JPEG or WebP picture.")
    media_type, width, height = header
    check_size(width, height)
    file.seek(0)
    with Image.open(file, formats=_FORMATS) as image:
        check_decoded_size(image, header)
        thumbnail = make_thumbnail(image)
    return Inspected(Facts(media_type=media_type, width=width, height=height), thumbnail)


def check_decoded_size(image: Image.Image, header: Header) -> None:
    """Raise UnusableMedia where the decoder has another size than the header."""
    if image.size != (header.width, header.height):
        raise UnusableMedia("Its header and its content have different sizes.")


def make_thumbnail(image: Image.Image) -> bytes:
    """A WebP of the picture, which is decoded to its end. Raises OSError for a truncated one."""
    if image.mode not in _SMOOTH:
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    image.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    if image.mode not in ("RGB", "RGBA"):
        image = image.convert("RGB")
    file = io.BytesIO()
    image.save(file, "WEBP", quality=_QUALITY)
    return file.getvalue()
