"""A film as large as those of providers. The simulator's are so small that a browser has read them
whole before it seeks."""

from fractions import Fraction
from pathlib import Path

import av
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from PIL import Image

from media.files.models import StoredFile
from media.files.types import storage_path
from simulator.media.frames import FrameRenderer
from studios.models import GenerationOutput
from studios.tests.artist import Job

SECONDS = 20
_FRAMES_PER_SECOND = 12
_SIZE = (640, 360)


def enlarge(clip: Job, folder: Path) -> int:
    """Put a film of twenty megabytes in the place of a clip's. Returns its size."""
    film = _film(folder / "film.mp4")
    output = GenerationOutput.objects.select_related("file").get(generation=clip["id"])
    assert output.file
    path = storage_path(output.file.name)
    storages["outputs"].delete(path)
    storages["outputs"].save(path, ContentFile(film))
    StoredFile.objects.filter(pk=output.file.pk).update(size=len(film))
    return len(film)


def _film(path: Path) -> bytes:
    """Noise, which is not compressed well, and the time of each frame as the simulator paints
    it."""
    renderer = FrameRenderer(size=_SIZE, prompt="", seed="", starts_at=0, ends_at=SECONDS)
    noise = [Image.effect_noise((640, 200), 80).convert("RGB") for _ in range(7)]
    with av.open(path, "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=_FRAMES_PER_SECOND)
        stream.width, stream.height = _SIZE
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "ultrafast", "crf": "20", "g": str(_FRAMES_PER_SECOND)}
        for number in range(SECONDS * _FRAMES_PER_SECOND):
            image = renderer.render(number / _FRAMES_PER_SECOND)
            image.paste(noise[number % len(noise)], (0, 100))
            frame = av.VideoFrame.from_image(image)  # type: ignore[no-untyped-call]
            frame.pts, frame.time_base = number, Fraction(1, _FRAMES_PER_SECOND)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path.read_bytes()
