"""The largest pictures that a model is shown can be decoded within the inspector's bounds."""

import io

from PIL import Image

from media.probe.inspecting import inspect_stills


async def test_the_largest_pictures_fit_into_the_memory() -> None:
    large = Image.new("RGBA", (5_000, 5_000), "teal")
    packed = [io.BytesIO() for _ in range(3)]
    large.save(packed[0], "PNG", compress_level=1)
    large.save(packed[1], "WEBP", lossless=True, method=0, quality=0)
    large.convert("RGB").save(packed[2], "JPEG", progressive=True, subsampling="4:4:4")
    await inspect_stills([each.getvalue() for each in packed], owner="alice")
