"""Orders of videos and 3D models at the simulator, and what becomes of them."""

import io
import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from PIL import Image as Pillow

from ai.providers.media import AssetOrder, MediaWire, Picture, Stage, VideoOrder
from ai.providers.operations import Accepted, OperationState, Pending, Succeeded
from ai.providers.registry import get_asset_wire, get_video_wire
from simulator.process import RunningSimulator

SECONDS = 20.0
LIMIT = 20_000_000  # bytes
VIDEOS = {"vertex": "veo-3.1-generate-001", "runway": "gen4.5", "luma": "ray-2"}
ASSETS = {"meshy": "meshy-6", "tripo": "v3.1-20260211"}
# The length of a clip that each of them makes, in seconds.
LENGTHS = {"vertex": 4, "runway": 2, "luma": 5}

AnyWire = MediaWire[Any]
AnyOrder = VideoOrder | AssetOrder


class Studio:
    """Wires to the simulator, and a marker for this test's calls."""

    def __init__(self, simulator: RunningSimulator) -> None:
        self.simulator = simulator
        self._marker = uuid4().hex

    def wire(self, provider: str) -> AnyWire:
        wire = (get_video_wire if provider in VIDEOS else get_asset_wire)(provider)
        assert wire is not None
        return wire

    def order(self, provider: str, **options: Any) -> AnyOrder:
        """The simplest order, steered by `options`."""
        return (
            self.asset(provider, **options)
            if provider in ASSETS
            else self.video(provider, **options)
        )

    def video(self, provider: str, **options: Any) -> VideoOrder:
        return VideoOrder(
            model=VIDEOS[provider],
            prompt=self.prompt(**options),
            seconds=LENGTHS[provider],
            aspect_ratio="16:9",
            resolution="720p",
        )

    def asset(self, provider: str, stage: Stage = "preview", **options: Any) -> AssetOrder:
        return AssetOrder(model=ASSETS[provider], prompt=self.prompt(**options), stage=stage)

    def prompt(self, **options: Any) -> str:
        return f"A fox\n@sim {json.dumps({'marker': self._marker} | options)}"

    def calls(self) -> list[dict[str, Any]]:
        return self.simulator.calls(self._marker)

    async def begin(self, wire: AnyWire, order: AnyOrder) -> Accepted:
        return await wire.submit(order, str(uuid4()), seconds=SECONDS)

    async def end(self, wire: AnyWire, order: AnyOrder) -> OperationState:
        """What an order comes to."""
        begun = await self.begin(wire, order)
        state: OperationState = Pending()
        while isinstance(state, Pending):
            state = await wire.poll(begun.id, seconds=SECONDS)
        return state

    async def made(self, wire: AnyWire, order: AnyOrder) -> Succeeded:
        state = await self.end(wire, order)
        assert isinstance(state, Succeeded), state
        return state


async def read(wire: AnyWire, url: str, *, limit: int = LIMIT, seconds: float = SECONDS) -> bytes:
    """A result as a whole."""
    return b"".join([piece async for piece in wire.download(url, limit=limit, seconds=seconds)])


def picture_of(colour: Sequence[int], form: str = "PNG", description: str = "") -> Picture:
    """A picture of one colour, with a description, which may steer the simulator."""
    file = io.BytesIO()
    image = Pillow.new("RGB", (64, 64), tuple(colour))
    exif = image.getexif()
    exif[0x010E] = description
    image.save(file, form, exif=exif)
    return Picture(file.getvalue(), f"image/{form.lower()}")
