"""What is special about each provider of 3D models, against the simulator."""

import pytest
from msgspec.structs import replace

from ai.providers.errors import RequestRefused
from ai.providers.media import AssetOrder
from ai.providers.operations import Cancelled, Failed, Succeeded, Unknown
from simulator.tests import model3d

from .studio import ASSETS, Studio, picture_of, read

RED = (255, 0, 0)
every_provider = pytest.mark.parametrize("provider", ASSETS)


async def view(studio: Studio, provider: str, result: Succeeded) -> model3d.Seen:
    return model3d.view(await read(studio.wire(provider), result.urls[0]))


async def made(studio: Studio, provider: str, order: AssetOrder) -> Succeeded:
    return await studio.made(studio.wire(provider), order)


def of_picture(provider: str, steering: str = "", *, texture: bool = True) -> AssetOrder:
    return AssetOrder(
        model=ASSETS[provider],
        stage="image",
        texture=texture,
        picture=picture_of(RED, description=steering),
    )


@every_provider
async def test_a_model_comes_with_a_picture_of_it(studio: Studio, provider: str) -> None:
    result = await made(studio, provider, studio.asset(provider))
    _, preview = result.urls
    assert (await read(studio.wire(provider), preview)).startswith(b"\x89PNG")


async def test_meshy_makes_a_preview_and_refines_it(studio: Studio) -> None:
    preview = await made(studio, "meshy", studio.asset("meshy"))
    assert (await view(studio, "meshy", preview)).texture is None
    assert preview.cost == 400_000_000  # 20 credits of 0.02 USD
    order = AssetOrder(model="meshy-6", stage="refine", refines=preview.reference)
    refined = await made(studio, "meshy", replace(order, prompt="red fur"))
    assert (await view(studio, "meshy", refined)).texture is not None
    assert refined.cost == 200_000_000
    assert refined.reference != preview.reference


async def test_meshy_refines_with_the_prompt_of_the_preview(studio: Studio) -> None:
    preview = await made(studio, "meshy", studio.asset("meshy"))
    order = AssetOrder(model="meshy-6", stage="refine", refines=preview.reference)
    assert await made(studio, "meshy", order)
    assert len(studio.calls()) == 2


@every_provider
@pytest.mark.parametrize("texture", [True, False])
async def test_a_model_is_made_of_a_picture(studio: Studio, provider: str, texture: bool) -> None:
    order = of_picture(provider, studio.prompt(), texture=texture)
    seen = await view(studio, provider, await made(studio, provider, order))
    assert (seen.texture is not None) == texture
    assert studio.calls()[0]["references"] == 1


async def test_meshy_says_what_a_model_of_a_picture_costs(studio: Studio) -> None:
    assert (await made(studio, "meshy", of_picture("meshy"))).cost == 600_000_000


async def test_meshy_cancels_a_model_of_a_picture(studio: Studio) -> None:
    wire = studio.wire("meshy")
    begun = await studio.begin(wire, of_picture("meshy", studio.prompt(polls=100)))
    await wire.cancel(begun.id, seconds=20)
    assert await wire.poll(begun.id, seconds=20) == Cancelled()


@pytest.mark.parametrize("texture", [True, False])
async def test_tripo_makes_a_model_in_one_step(studio: Studio, texture: bool) -> None:
    order = replace(studio.asset("tripo"), texture=texture, negative_prompt="a wolf", seed=0)
    result = await made(studio, "tripo", order)
    assert ((await view(studio, "tripo", result)).texture is not None) == texture
    assert result.cost is None


async def test_tripo_gives_a_model_a_texture(studio: Studio) -> None:
    plain = await made(studio, "tripo", replace(studio.asset("tripo"), texture=False))
    order = AssetOrder(model=ASSETS["tripo"], stage="refine", refines=plain.reference)
    refined = await made(studio, "tripo", replace(order, prompt="red fur", seed=1))
    assert (await view(studio, "tripo", refined)).texture is not None


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
async def test_tripo_takes_every_kind_of_picture(studio: Studio, form: str) -> None:
    order = replace(of_picture("tripo"), picture=picture_of(RED, form), seed=1)
    assert await made(studio, "tripo", order)


async def test_tripo_refuses_what_is_no_picture(studio: Studio) -> None:
    order = replace(of_picture("tripo"), picture=replace(picture_of(RED), data=b"no picture"))
    with pytest.raises(RequestRefused):
        await studio.begin(studio.wire("tripo"), order)


@pytest.mark.parametrize(
    ("finish", "expected"), [("cancelled", Cancelled()), ("unknown", Unknown())]
)
async def test_tripo_s_other_ends_are_known(studio: Studio, finish: str, expected: object) -> None:
    order = studio.asset("tripo", finish=finish)
    assert await studio.end(studio.wire("tripo"), order) == expected


@pytest.mark.parametrize(("finish", "blocked"), [("banned", True), ("expired", False)])
async def test_tripo_s_other_failures_are_known(studio: Studio, finish: str, blocked: bool) -> None:
    order = studio.asset("tripo", finish=finish)
    state = await studio.end(studio.wire("tripo"), order)
    assert isinstance(state, Failed)
    assert state.blocked is blocked


@every_provider
async def test_a_prompt_that_moderation_refuses_begins_nothing(
    studio: Studio, provider: str
) -> None:
    with pytest.raises(RequestRefused) as refused:
        await studio.begin(studio.wire(provider), studio.asset(provider, refusal=True))
    assert refused.value.blocked


@every_provider
async def test_what_is_refined_may_be_gone(studio: Studio, provider: str) -> None:
    order = AssetOrder(
        model=ASSETS[provider], stage="refine", refines="17f20503-6c24-4c16-946b-35dbbce2af2f"
    )
    with pytest.raises(RequestRefused, match="earlier result"):
        await studio.begin(studio.wire(provider), order)


@pytest.mark.parametrize(
    ("provider", "order", "word"),
    [
        ("meshy", {"negative_prompt": "a wolf"}, "negative prompt"),
        ("meshy", {"seed": 0}, "seed"),
        ("meshy", {"stage": "image"}, "picture is missing"),
        ("tripo", {"stage": "image", "prompt": ""}, "picture is missing"),
        ("tripo", {"stage": "image"}, "prompt"),
        ("tripo", {"stage": "refine", "negative_prompt": "a wolf"}, "negative prompt"),
    ],
)
async def test_what_a_provider_does_not_take_is_refused_and_not_left_out(
    studio: Studio, provider: str, order: dict[str, object], word: str
) -> None:
    with pytest.raises(RequestRefused, match=word):
        await studio.begin(studio.wire(provider), replace(studio.asset(provider), **order))
    assert studio.calls() == []
