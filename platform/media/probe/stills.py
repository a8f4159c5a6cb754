"""Decodes pictures that a model is shown, to be sure that they are what they seem."""

import io

from PIL import Image

from media.probe import pictures
from media.probe.bounds import check_size
from media.probe.errors import UnusableMedia
from media.probe.headers import read_still_header
from media.probe.pictures import check_decoded_size

_FORMATS = ("GIF", "JPEG", "PNG", "WEBP")
# One white pixel.
_SMALL_GIF = b"GIF89a\1\0\1\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"


def load() -> None:
    """Import what Pillow imports lazily: all plugins, and what that of GIF needs."""
    pictures.load()
    check_still(_SMALL_GIF)


def check_still(data: bytes) -> None:
    """Decode a picture to its end. Raises UnusableMedia, also for one that moves, and whatever
    Pillow raises for a broken one."""
    header = read_still_header(data)
    if header is None:
        raise UnusableMedia("It is no PNG, JPEG, WebP or GIF picture.")
    check_size(header.width, header.height)
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        check_decoded_size(image, header)
        # OpenAI takes no animated GIF; what others see of one is not documented. The photographs
        # of phones contain others, and do not move.
        if image.format != "MPO" and getattr(image, "is_animated", False):
            raise UnusableMedia("It is animated: send one frame of it.")
        image.load()
        # The frame of a GIF can be larger than its screen.
        check_decoded_size(image, header)
