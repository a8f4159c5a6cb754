"""What is special about each provider of videos, against the simulator."""

import pytest
from msgspec.structs import replace
from PIL import Image as Pillow

from ai.providers.errors import RequestRefused
from ai.providers.media import VideoOrder
from ai.providers.operations import Failed
from simulator.tests import film

from .studio import LENGTHS, VIDEOS, Studio, picture_of, read

RED, GREEN = (255, 0, 0), (0, 255, 0)


async def watch(studio: Studio, provider: str, order: VideoOrder) -> film.Seen:
    wire = studio.wire(provider)
    return film.watch(await read(wire, (await studio.made(wire, order)).urls[0]))


@pytest.mark.parametrize("provider", VIDEOS)
async def test_a_clip_has_the_length_and_the_shape_that_were_ordered(
    studio: Studio, provider: str
) -> None:
    order = replace(studio.video(provider), aspect_ratio="9:16")
    seen = await watch(studio, provider, order)
    assert seen.seconds == pytest.approx(LENGTHS[provider], abs=0.1)
    width, height = seen.images[0].size
    assert height > width


async def test_veo_takes_all_that_an_order_can_say(studio: Studio) -> None:
    order = replace(
        studio.video("vertex"),
        resolution="1080p",
        negative_prompt="a wolf",
        seed=0,
        audio=True,
        start=picture_of(GREEN),
        end=picture_of(RED, "JPEG"),
    )
    seen = await watch(studio, "vertex", order)
    assert seen.has_sound
    first, last = (film.colour(image, (image.width - 12, 12)) for image in _ends(seen))
    assert first[1] > 200 > first[0]
    assert last[0] > 200 > last[1]
    (call,) = studio.calls()
    assert (call["references"], call["size"]) == (2, "1080p")


async def test_veo_makes_a_silent_clip(studio: Studio) -> None:
    order = replace(studio.video("vertex"), audio=False)
    assert not (await watch(studio, "vertex", order)).has_sound


async def test_veo_brings_the_whole_clip_of_an_extension(studio: Studio) -> None:
    first = await studio.made(studio.wire("vertex"), studio.video("vertex"))
    order = replace(studio.video("vertex"), seconds=7, extends=first.reference)
    seen = await watch(studio, "vertex", order)
    assert seen.seconds == pytest.approx(11, abs=0.1)
    assert seen.clock == sorted(seen.clock)


async def test_veo_leaves_each_result_in_a_folder_of_our_reference(studio: Studio) -> None:
    wire = studio.wire("vertex")
    begun = await wire.submit(studio.video("vertex"), "ours", seconds=20)
    result = await wire.poll(begun.id, seconds=20)
    assert result.urls[0].startswith("gs://simulated-veo/ours/")  # type: ignore[union-attr]
    assert result.reference == result.urls[0]  # type: ignore[union-attr]


async def test_runway_says_what_a_clip_costs(studio: Studio) -> None:
    result = await studio.made(studio.wire("runway"), studio.video("runway"))
    assert result.cost == 240_000_000  # 24 credits of 0.01 USD
    assert result.reference == ""


async def test_runway_begins_with_a_picture(studio: Studio) -> None:
    order = replace(
        studio.video("runway"), aspect_ratio="1:1", seed=7, start=picture_of(GREEN, "WEBP")
    )
    first, _ = _ends(await watch(studio, "runway", order))
    red, green, _ = film.colour(first, (first.width - 8, 8))
    assert green > 200 > red
    assert first.width == first.height
    assert studio.calls()[0]["references"] == 1


async def test_runway_s_code_of_a_failure_is_kept(studio: Studio) -> None:
    order = studio.video("runway", finish="failed", code="ASSET.INVALID")
    state = await studio.end(studio.wire("runway"), order)
    assert isinstance(state, Failed)
    assert state.codes == ("ASSET.INVALID",)


async def test_luma_s_extension_is_a_clip_that_goes_on(studio: Studio) -> None:
    wire = studio.wire("luma")
    first = await studio.made(wire, studio.video("luma"))
    assert first.seconds == 5.0
    before = film.watch(await read(wire, first.urls[0]))
    after = await watch(studio, "luma", replace(studio.video("luma"), extends=first.reference))
    assert after.seconds == pytest.approx(5, abs=0.1)
    assert after.clock[0] == pytest.approx(before.clock[-1], abs=0.11)


async def test_what_luma_extends_may_be_gone(studio: Studio) -> None:
    order = replace(studio.video("luma"), extends="17f20503-6c24-4c16-946b-35dbbce2af2f")
    with pytest.raises(RequestRefused, match="earlier result"):
        await studio.begin(studio.wire("luma"), order)


@pytest.mark.parametrize(
    ("provider", "fields", "word"),
    [
        ("runway", {"negative_prompt": "a wolf"}, "negative prompt"),
        ("runway", {"audio": True}, "audio"),
        ("runway", {"end": picture_of(RED)}, "last frame"),
        ("runway", {"extends": "earlier"}, "extension"),
        ("runway", {"resolution": "1080p"}, "1080p"),
        ("runway", {"aspect_ratio": "2:1"}, "2:1"),
        ("luma", {"negative_prompt": "a wolf"}, "negative prompt"),
        ("luma", {"seed": 0}, "seed"),
        ("luma", {"audio": True}, "audio"),
        ("luma", {"start": picture_of(RED)}, "first frame"),
        ("luma", {"end": picture_of(RED)}, "last frame"),
    ],
)
async def test_what_a_provider_does_not_take_is_refused_and_not_left_out(
    studio: Studio, provider: str, fields: dict[str, object], word: str
) -> None:
    with pytest.raises(RequestRefused, match=word):
        await studio.begin(studio.wire(provider), replace(studio.video(provider), **fields))
    assert studio.calls() == []


def _ends(seen: film.Seen) -> tuple[Pillow.Image, Pillow.Image]:
    """The first and the last frame."""
    return seen.images[0], seen.images[-1]
