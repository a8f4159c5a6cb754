"""The frames of a film: the prompt, a running clock, a progress bar, and the clock once more in a
form that programs read."""

import colorsys
import io
from dataclasses import dataclass, field
from functools import cache
from hashlib import shake_256
from textwrap import wrap

from PIL import Image, ImageDraw, ImageFont

_HUES_PER_SECOND = 1 / 30
_MARKS = 12  # bits of the time code: tenths of a second up to 409.5
_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)

Box = tuple[int, int, int, int]


@dataclass(slots=True)
class FrameRenderer:
    """Paints the frames of a clip whose clock runs from `starts_at` to `ends_at`, in seconds.

    The colour of the background is a function of `seed` and the clock, so that a clip with the
    same seed goes on as another one ended. `start` is shown in the first half of the clip, `end`
    in the second.
    """

    size: tuple[int, int]
    prompt: str
    seed: str
    starts_at: float
    ends_at: float
    start: bytes | None = None
    end: bytes | None = None
    _first: Image.Image = field(init=False)
    _second: Image.Image = field(init=False)

    def __post_init__(self) -> None:
        self._first = self._overlay(self.start)
        self._second = self._overlay(self.end)

    def render(self, clock: float) -> Image.Image:
        """The frame at this time of the clock."""
        done = (clock - self.starts_at) / (self.ends_at - self.starts_at)
        image = Image.new("RGB", self.size, _colour(self.seed, clock))
        overlay = self._first if done < 0.5 else self._second
        image.paste(overlay, (0, 0), overlay)
        self._paint_clock(ImageDraw.Draw(image), clock, done)
        return image

    def _overlay(self, picture: bytes | None) -> Image.Image:
        """What does not move: the prompt, and a picture at the right."""
        width, height = self.size
        image = Image.new("RGBA", self.size)
        text = "\n".join(wrap(self.prompt, max(10, width // 8))[:4])
        font = _font(height // 12)
        ImageDraw.Draw(image).multiline_text((width // 20, height // 3), text, _WHITE, font)
        if picture is not None:
            with Image.open(io.BytesIO(picture)) as opened:
                inset = opened.convert("RGB")
            inset.thumbnail((width // 3, height // 3))
            image.paste(inset, (width - inset.width - 4, 4))
        return image

    def _paint_clock(self, draw: ImageDraw.ImageDraw, clock: float, done: float) -> None:
        width, height = self.size
        bar = height - height // 12
        place = (width // 20, bar - height // 8)
        draw.text(place, f"{clock:05.1f} s", _WHITE, _font(height // 10))
        draw.rectangle((0, bar, width, height), _BLACK)
        draw.rectangle((0, bar, round(width * done), height), _WHITE)
        tenths = int(clock * 10)
        for bit, box in enumerate(time_code_boxes(self.size)):
            draw.rectangle(box, _WHITE if tenths >> bit & 1 else _BLACK)


def time_code_boxes(size: tuple[int, int]) -> list[Box]:
    """Where a frame has the bits of its time code, the lowest first: white is one. The number is
    the time of the clock in tenths of a second."""
    edge = min(size) // 16
    return [(bit * edge, 0, (bit + 1) * edge - 1, edge - 1) for bit in range(_MARKS)]


def _colour(seed: str, clock: float) -> tuple[int, int, int]:
    hue = shake_256(seed.encode()).digest(1)[0] / 256 + clock * _HUES_PER_SECOND
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, 0.6, 0.5)
    return round(red * 255), round(green * 255), round(blue * 255)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
