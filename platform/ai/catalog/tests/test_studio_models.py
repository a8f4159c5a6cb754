"""The image, video and 3D models of the price list: what they take, and what that costs."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ai.catalog.listing import ModelSeed
from ai.catalog.params import Params
from ai.catalog.pricing import image_cost, unit_cost
from ai.catalog.seeds import hosted_models
from ai.catalog.types import UNITS, ImagePrice, UnitPrice
from common.errors import ValidationFailed

from .test_params import KNOWN, STUDIO, UPLOAD, fitting

LONGEST = 37  # seconds


# The fields of one stage of a 3D asset only.
STAGES = {"image": "image", "refines": "refine", "negative_prompt": "preview"}


def orders(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Values that fit, with the fields of their stage."""
    values = fitting(schema)
    return values.map(_at_its_stage) if "stage" in schema["properties"] else values


def _at_its_stage(values: dict[str, Any]) -> dict[str, Any]:
    stage = values.get("stage", "preview")
    needed = {name: UPLOAD for name in ("image", "refines") if STAGES[name] == stage}
    kept = {name: value for name, value in values.items() if STAGES.get(name, stage) == stage}
    return kept | needed


def price_of(seed: ModelSeed) -> ImagePrice | UnitPrice:
    rates: dict[str, Any] = dict(seed.prices[-1].rates)
    if seed.modality == "image":
        per_image = {quality: rates[f"image_{quality}"] for quality in ("low", "standard", "high")}
        return ImagePrice(1, per_image, rates["image_fee"])
    return UnitPrice(1, UNITS[seed.modality], rates["unit_rates"], rates["unit_fee"])


def cost(seed: ModelSeed, values: dict[str, Any], quantity: int) -> int:
    price, variant = price_of(seed), Params(seed.params).variant(values)
    if isinstance(price, ImagePrice):
        return image_cost(price, variant, quantity)
    return unit_cost(price, variant, quantity)


def quantity_of(seed: ModelSeed, values: dict[str, Any]) -> int:
    counted = {"image": "n", "video": "seconds"}.get(seed.modality)
    quantity: int = values[counted] if counted else 1
    return quantity


def test_models_of_the_studios_have_params_and_no_others() -> None:
    assert {seed.id for seed in hosted_models() if seed.params} == {
        seed.id for seed in hosted_models() if seed.modality in ("image", "video", "3d")
    }


@pytest.mark.parametrize("name", STUDIO)
def test_the_params_are_a_schema_that_a_form_can_be_built_from(name: str) -> None:
    schema = STUDIO[name].params
    jsonschema_rs.meta.validate(schema)
    assert schema["x-order"] == list(schema["properties"])
    assert set(schema["x-priced-by"]) <= schema["properties"].keys()
    for field in schema["properties"].values():
        assert field["title"]
        assert field["description"].endswith((".", "?"))
        assert field["type"] in ("string", "integer", "boolean", "array")


@pytest.mark.parametrize("name", STUDIO)
def test_every_variant_has_its_rate_and_every_rate_its_variant(name: str) -> None:
    seed = STUDIO[name]
    price = price_of(seed)
    rates = price.per_image if isinstance(price, ImagePrice) else price.per_unit
    assert Params(seed.params).variants == rates.keys()
    assert all(type(rate) is int and rate > 0 for rate in rates.values())


@pytest.mark.parametrize("name", STUDIO)
def test_what_is_chosen_by_default_is_accepted(name: str) -> None:
    params = Params(STUDIO[name].params, KNOWN)
    assert params.check(params.check({})) == params.check({})


@pytest.mark.parametrize("name", STUDIO)
@given(data=st.data())
def test_whatever_is_accepted_can_be_priced_and_costs_at_most_what_is_held(
    name: str, data: st.DataObject
) -> None:
    """The hold is for what was ordered; a provider that delivers less is paid for less."""
    seed = STUDIO[name]
    try:
        values = Params(seed.params, KNOWN).check(data.draw(orders(seed.params)))
    except ValidationFailed:
        assume(False)
    ordered = quantity_of(seed, values)
    held = cost(seed, values, ordered)
    assert type(held) is int
    assert 0 < held < 100 * 10**9
    assert cost(seed, values, data.draw(st.integers(0, ordered))) <= held


@pytest.mark.parametrize("name", STUDIO)
def test_an_extension_can_be_priced(name: str) -> None:
    seed = STUDIO[name]
    params = Params(seed.params)
    extension = params.extension
    assert (extension is not None) == (name in ("veo-3.1", "ray-2"))
    if extension is None:
        return
    values = params.check({})
    if extension.resolution:
        values = params.check({"resolution": extension.resolution})
    assert extension.longest <= LONGEST
    assert all(cost(seed, values, seconds) > 0 for seconds in extension.seconds)


@pytest.mark.parametrize(
    ("name", "values", "usd"),
    [
        ("veo-3.1", {}, "3.28"),
        ("veo-3.1", {"audio": False, "seconds": 4}, "0.84"),
        ("veo-3.1", {"resolution": "1080p", "seconds": 6}, "2.46"),
        ("gen4.5", {"seconds": 10}, "1.30"),
        ("ray-2", {"resolution": "540p"}, "0.45"),
        ("meshy-6", {}, "0.42"),
        ("meshy-6", {"stage": "refine", "refines": UPLOAD}, "0.22"),
        ("meshy-6", {"stage": "image", "image": UPLOAD}, "0.62"),
        ("tripo-h3", {}, "0.22"),
        ("tripo-h3", {"stage": "image", "image": UPLOAD}, "0.32"),
        ("flux-2-pro", {"quality": "high", "n": 2}, "0.11"),
    ],
)
def test_it_costs_what_the_list_says(name: str, values: dict[str, Any], usd: str) -> None:
    seed = STUDIO[name]
    checked = Params(seed.params, KNOWN).check(values)
    assert cost(seed, checked, quantity_of(seed, checked)) / 10**9 == pytest.approx(float(usd))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("veo-3.1", {"start_image": UPLOAD, "end_image": UPLOAD, "negative_prompt": "rain"}),
        ("veo-3.1", {"seed": 2**32 - 1, "aspect_ratio": "9:16"}),
        ("gen4.5", {"start_image": UPLOAD, "aspect_ratio": "21:9"}),
        ("gen4.5", {"aspect_ratio": "9:16", "seconds": 2}),
        ("ray-2", {"aspect_ratio": "9:21", "seconds": 9}),
        ("meshy-6", {"stage": "image", "image": UPLOAD, "texture": False}),
        ("tripo-h3", {"negative_prompt": "legs", "seed": 2**31 - 1}),
        ("gpt-image-2.5-flare", {"references": [UPLOAD] * 4, "n": 4, "size": "1536x1024"}),
        ("tripo-h3", {"texture": False}),
        ("flux-2-pro", {"references": [UPLOAD], "seed": 7, "n": 4}),
        ("gemini-nano-banana-2.1", {"references": [UPLOAD] * 4, "seed": 2**31 - 5}),
    ],
)
def test_a_model_takes_what_its_provider_takes(name: str, values: dict[str, Any]) -> None:
    checked = Params(STUDIO[name].params, KNOWN).check(values)
    assert checked.items() >= values.items()


@pytest.mark.parametrize(
    ("name", "values", "field"),
    [
        ("veo-3.1", {"end_image": UPLOAD}, "start_image"),
        ("veo-3.1", {"seconds": 5}, "seconds"),
        ("veo-3.1", {"seconds": 61}, "seconds"),
        ("veo-3.1", {"aspect_ratio": "1:1"}, "aspect_ratio"),
        ("gen4.5", {"aspect_ratio": "1:1"}, "aspect_ratio"),
        ("gen4.5", {"negative_prompt": "rain"}, "negative_prompt"),
        ("gen4.5", {"end_image": UPLOAD}, "end_image"),
        ("ray-2", {"start_image": UPLOAD}, "start_image"),
        ("ray-2", {"seed": 1}, "seed"),
        ("meshy-6", {"negative_prompt": "legs"}, "negative_prompt"),
        ("meshy-6", {"stage": "image"}, "image"),
        ("meshy-6", {"stage": "refine"}, "refines"),
        ("meshy-6", {"image": UPLOAD}, "stage"),
        ("meshy-6", {"refines": UPLOAD}, "stage"),
        ("tripo-h3", {"stage": "image", "image": UPLOAD, "negative_prompt": "legs"}, "stage"),
        ("gpt-image-2.5-flare", {"n": 5}, "n"),
        ("gpt-image-2.5-flare", {"n": 0}, "n"),
        ("gpt-image-2.5-flare", {"seed": 1}, "seed"),
        ("gemini-nano-banana-2.1", {"size": "512x512"}, "size"),
        ("grok-imagine-image-2.0", {"references": [UPLOAD] * 5}, "references"),
        ("flux-2-pro", {"seed": 2**31 - 4}, "seed"),
        ("flux-2-pro", {"negative_prompt": "rain"}, "negative_prompt"),
    ],
)
def test_a_model_refuses_what_its_provider_would(
    name: str, values: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        Params(STUDIO[name].params, KNOWN).check(values)
    [error] = refused.value.extra["errors"]
    assert error["loc"] == [field]
    assert error["msg"].endswith(".")


@pytest.mark.parametrize(
    ("name", "most"), [("gen4.5", 1_000), ("meshy-6", 600), ("tripo-h3", 1_024), ("ray-2", 4_000)]
)
def test_a_prompt_is_as_long_as_the_provider_takes(name: str, most: int) -> None:
    params = Params(STUDIO[name].params)
    values = params.check({})
    params.check_prompt("x" * most, values)
    with pytest.raises(ValidationFailed):
        params.check_prompt("x" * (most + 1), values)
    with pytest.raises(ValidationFailed):
        params.check_prompt("", values)


def test_a_prompt_beside_a_picture_is_refused_where_the_provider_takes_none() -> None:
    values = {"stage": "image", "image": UPLOAD}
    meshy, tripo = (Params(STUDIO[name].params) for name in ("meshy-6", "tripo-h3"))
    meshy.check_prompt("Oak", meshy.check(values))
    with pytest.raises(ValidationFailed, match="leave it out"):
        tripo.check_prompt("Oak", tripo.check(values))


@pytest.mark.parametrize("name", ["meshy-6", "tripo-h3"])
def test_what_is_made_of_a_picture_or_a_preview_needs_no_prompt(name: str) -> None:
    params = Params(STUDIO[name].params)
    params.check_prompt("", params.check({"stage": "image", "image": UPLOAD}))
    params.check_prompt("", params.check({"stage": "refine", "refines": UPLOAD}))
