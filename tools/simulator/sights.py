"""What the simulator sees in a picture: its size, and the colour that most of it has."""

import base64
import binascii
import io
from dataclasses import dataclass

from PIL import Image

MAX_PIXELS = 50_000_000
MAX_TOKENS = 64
_PIXELS_PER_TOKEN = 4096
_SAMPLE = 32  # pixels of each side: enough to find the colour
_GREY = 40  # of 255: less colour than this is a grey
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_HUES = (
    (15, "red"),
    (45, "orange"),
    (70, "yellow"),
    (170, "green"),
    (200, "turquoise"),
    (260, "blue"),
    (320, "purple"),
    (345, "pink"),
    (360, "red"),
)


class Unseen(Exception):
    """The picture cannot be decoded; the text says why."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A picture of this size in pixels, and its dominant colour."""

    width: int
    height: int
    colour: str

    @property
    def tokens(self) -> int:
        """Fewer than any provider counts for such a picture."""
        return min(MAX_TOKENS, 1 + self.width * self.height // _PIXELS_PER_TOKEN)

    @property
    def sentence(self) -> str:
        return f"The picture is {self.width} x {self.height} pixels and mostly {self.colour}."


def see(encoded: str) -> Sight:
    """The picture in base64. Raises `Unseen` for what is no picture, or one that is too large."""
    try:
        data = base64.b64decode(encoded, validate=True)
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise Unseen(f"The picture has more than {MAX_PIXELS} pixels.")
            image.draft("RGB", (_SAMPLE, _SAMPLE))
            small = image.convert("RGB").resize((_SAMPLE, _SAMPLE), Image.Resampling.NEAREST)
    except (
        binascii.Error,
        OSError,
        SyntaxError,
        ValueError,
        Image.DecompressionBombError,
    ) as error:
        raise Unseen("The picture cannot be decoded.") from error
    counted: dict[str, int] = {}
    data = small.tobytes()
    for red, green, blue in zip(data[::3], data[1::3], data[2::3], strict=True):
        name = _named(red, green, blue)
        counted[name] = counted.get(name, 0) + 1
    return Sight(width, height, max(counted, key=lambda name: counted[name]))


def see_url(url: str) -> Sight:
    """The picture of a data URL. Raises `Unseen`, for other URLs too: nothing is fetched here."""
    head, _, encoded = url.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise Unseen("The simulator fetches no pictures: send them as data URLs in base64.")
    return see(encoded)


def _named(red: int, green: int, blue: int) -> str:
    most, least = max(red, green, blue), min(red, green, blue)
    if most - least < _GREY:
        return "black" if most < 64 else "white" if least > 191 else "grey"
    if most == red:
        hue = 60 * (green - blue) / (most - least) % 360
    elif most == green:
        hue = 60 * (blue - red) / (most - least) + 120
    else:
        hue = 60 * (red - green) / (most - least) + 240
    return next(name for end, name in _HUES if hue <= end)
