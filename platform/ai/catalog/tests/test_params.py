"""Params are checked against their schema, and refused in sentences that say what to give."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.catalog import param_schemas
from ai.catalog.params import Params, with_results
from ai.catalog.seeds import hosted_models
from common.api import WrittenFloat
from common.errors import ValidationFailed

FILM = Params(
    with_results(
        param_schemas.params(
            {
                "seconds": param_schemas.choice("Seconds", "", (4, 6), default=6),
                "resolution": param_schemas.choice("Resolution", "", ("720p", "1080p")),
                "audio": param_schemas.flag("Sound", "", default=True),
                "seed": param_schemas.whole_number("Seed", "", 0, 9_999),
                "negative_prompt": param_schemas.text("Negative prompt", "", 10),
                "start_image": param_schemas.upload("Start", ""),
                "end_image": param_schemas.upload("End", ""),
            },
            priced_by=("resolution", "audio"),
            formats=("video/mp4",),
            prompt={
                "minLength": 1,
                "maxLength": 10,
                "optional": {"seconds": [4]},
                "unused": {"resolution": ["1080p"]},
            },
            rules=(
                param_schemas.needs("end_image", "start_image", says="Give a start picture too."),
                param_schemas.without(
                    "start_image", seconds={"enum": [6]}, says="Without a start picture, give 6."
                ),
            ),
            extend={"seconds": [7], "longest": 37, "combined": True, "resolution": "720p"},
        )
    ),
    known=frozenset({"seconds", "resolution", "stage"}),
)
PICTURE = Params(with_results(param_schemas.pictures(references=2, has_seed=True)))
UPLOAD = "0192f0c1-2f3e-7d4a-8b5c-6d7e8f901234"
A_PICTURE = "Give the id of an upload, or a result by its `job` and `output`."
DEFAULTS = {"seconds": 6, "resolution": "720p", "audio": True}

STUDIO = {seed.id: seed for seed in hosted_models() if seed.params}
KNOWN = frozenset(name for seed in STUDIO.values() for name in seed.params["properties"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**99), 10**99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from([4, 4.0, 1.0, "720p", "image", UPLOAD, "1:1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def problems(params: Params, values: dict[str, Any]) -> dict[tuple[Any, ...], str]:
    with pytest.raises(ValidationFailed) as refused:
        params.check(values)
    return {tuple(error["loc"]): error["msg"] for error in refused.value.extra["errors"]}


# --- What is accepted ---------------------------------------------------------------------------


def test_what_is_left_out_has_its_default_and_optional_fields_stay_away() -> None:
    assert FILM.check({}) == DEFAULTS


def test_what_is_given_is_returned_as_it_is() -> None:
    given_values = {"seconds": 4, "audio": False, "start_image": UPLOAD, "seed": 0}

    assert FILM.check(given_values) == DEFAULTS | given_values


def test_a_field_that_no_model_has_is_ignored() -> None:
    assert FILM.check({"colour": "red"}) == DEFAULTS


def test_a_model_without_params_takes_anything_and_keeps_nothing() -> None:
    assert Params({}).check({"n": 2}) == {}
    assert Params({}).variants == {""}
    assert Params({}).extension is None
    assert not Params({}).takes_uploads
    Params({}).check_prompt("", {})


def test_a_list_takes_as_many_as_the_model_does() -> None:
    assert PICTURE.check({"references": [UPLOAD, UPLOAD]})["references"] == [UPLOAD, UPLOAD]
    assert PICTURE.takes_uploads
    assert FILM.takes_uploads


@pytest.mark.parametrize("result", [{"job": UPLOAD}, {"job": UPLOAD, "output": 3}])
def test_a_result_of_a_job_is_taken_as_a_picture(result: Any) -> None:
    assert FILM.check({"start_image": result})["start_image"] == result
    assert PICTURE.check({"references": [UPLOAD, result]})["references"] == [UPLOAD, result]


# --- What is refused ----------------------------------------------------------------------------


def test_a_field_of_another_model_is_refused() -> None:
    assert problems(FILM, {"stage": "preview"}) == {
        ("stage",): "This model does not take it: leave it out, or choose another model."
    }


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"seconds": 5}, "Give 4 or 6."),
        ({"seconds": 6.0}, "Give 4 or 6."),
        ({"seconds": "6"}, "Give 4 or 6."),
        ({"seconds": None}, "Give 4 or 6."),
        ({"resolution": "4k"}, 'Give "720p" or "1080p".'),
        ({"resolution": 720}, 'Give "720p" or "1080p".'),
        ({"audio": 1}, "Give true or false."),
        ({"audio": "yes"}, "Give true or false."),
        ({"seed": -1}, "Give a whole number from 0 to 9,999."),
        ({"seed": 10_000}, "Give a whole number from 0 to 9,999."),
        ({"seed": 10**99}, "Give a whole number from 0 to 9,999."),
        ({"seed": True}, "Give a whole number from 0 to 9,999."),
        ({"seed": 1.5}, "Give a whole number from 0 to 9,999."),
        ({"negative_prompt": "x" * 11}, "Give a text of at most 10 characters."),
        ({"negative_prompt": ["x"]}, "Give a text of at most 10 characters."),
        ({"start_image": "fox.png"}, A_PICTURE),
        ({"start_image": f"{{{UPLOAD}}}"}, A_PICTURE),
        ({"start_image": [UPLOAD]}, A_PICTURE),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_what_does(
    values: dict[str, Any], sentence: str
) -> None:
    [name] = values
    assert problems(FILM, values) == {(name,): sentence}


@pytest.mark.parametrize("references", [UPLOAD, [UPLOAD] * 3, [UPLOAD] * 50_000, {"0": UPLOAD}])
def test_no_list_or_one_that_is_too_long_is_one_problem(references: Any) -> None:
    assert problems(PICTURE, {"references": references}) == {
        ("references",): "Give a list of at most 2."
    }


@pytest.mark.parametrize("wrong", ["fox.png", None, [UPLOAD]])
def test_an_item_that_does_not_fit_is_named_by_its_index(wrong: Any) -> None:
    assert problems(PICTURE, {"references": [UPLOAD, wrong]}) == {("references", 1): A_PICTURE}


@pytest.mark.parametrize(
    ("result", "inner"),
    [
        ({}, ["job"]),
        ({"job": "fox"}, ["job"]),
        ({"job": UPLOAD, "output": -1}, ["output"]),
        ({"job": UPLOAD, "output": "0"}, ["output"]),
        ({"job": UPLOAD, "output": WrittenFloat("1.0")}, ["output"]),
        ({"job": UPLOAD, "size": WrittenFloat("1.5")}, []),
        ({"job": UPLOAD, "url": "https://example.com"}, []),
    ],
)
def test_a_result_that_is_none_is_refused(result: Any, inner: list[str]) -> None:
    assert problems(FILM, {"start_image": result}) == {("start_image", *inner): A_PICTURE}
    assert problems(PICTURE, {"references": [result]}) == {("references", 0, *inner): A_PICTURE}


def test_a_rule_of_several_fields_is_refused_in_its_own_words() -> None:
    assert problems(FILM, {"end_image": UPLOAD}) == {("start_image",): "Give a start picture too."}
    assert problems(FILM, {"seconds": 4}) == {("seconds",): "Without a start picture, give 6."}


def test_all_problems_are_named_and_the_first_is_the_message() -> None:
    with pytest.raises(ValidationFailed) as refused:
        FILM.check({"seconds": 5, "resolution": "4k", "stage": "preview"})

    named = [error["loc"] for error in refused.value.extra["errors"]]
    assert sorted(named) == [["resolution"], ["seconds"], ["stage"]]
    assert refused.value.text.startswith("stage: This model does not take it")


# --- The rest -----------------------------------------------------------------------------------


def test_a_variant_is_the_values_that_decide_the_price() -> None:
    assert FILM.variant(FILM.check({})) == "720p+audio"
    assert FILM.variant(FILM.check({"resolution": "1080p", "audio": False})) == "1080p"
    assert FILM.variants == {"720p", "1080p", "720p+audio", "1080p+audio"}
    assert PICTURE.variants == {"low", "standard", "high"}


def test_it_says_how_a_clip_is_extended() -> None:
    extension = FILM.extension
    assert extension is not None
    assert (extension.seconds, extension.longest) == ((7,), 37)
    assert (extension.combined, extension.resolution) == (True, "720p")
    assert PICTURE.extension is None


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ("", "Give at least 1 character."),
        ("x" * 11, "Give at most 10 characters."),
        ("\N{FOX FACE}" * 6, "Give at most 10 characters."),
    ],
)
def test_a_prompt_that_is_too_short_or_too_long_is_refused(prompt: str, sentence: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        FILM.check_prompt(prompt, DEFAULTS)
    assert refused.value.extra["errors"] == [{"loc": ["prompt"], "msg": sentence}]


def test_a_prompt_may_be_empty_where_other_values_say_enough() -> None:
    FILM.check_prompt("", DEFAULTS | {"seconds": 4})
    FILM.check_prompt("x" * 10, DEFAULTS)


def test_a_prompt_that_would_not_be_used_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="It is not used with these values"):
        FILM.check_prompt("A fox", DEFAULTS | {"resolution": "1080p"})


# --- The models of the price list ---------------------------------------------------------------


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Values that fit some of the fields, if not always the rules."""
    fields = {name: _fitting(field) for name, field in schema["properties"].items()}
    return st.fixed_dictionaries({}, optional=fields)


def anything(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The same, and values that fit nothing, of these fields, of other models' and of nobody's."""
    names = st.sampled_from(["colour", *sorted(KNOWN)])
    strange = st.dictionaries(names, JSON, max_size=2)
    return st.builds(lambda one, two: {**one, **two}, fitting(schema), strange)


def _fitting(field: dict[str, Any]) -> st.SearchStrategy[Any]:
    ids = st.uuids().map(str)
    match field:
        case {"enum": options}:
            return st.sampled_from(options)
        case {"type": "boolean"}:
            return st.booleans()
        case {"type": "integer"}:
            return st.integers(field["minimum"], field["maximum"])
        case {"type": "array"}:
            return st.lists(ids, max_size=field["maxItems"])
        case {"format": _}:
            return ids
    return st.text(max_size=field["maxLength"])


@pytest.mark.parametrize("name", STUDIO)
@given(data=st.data())
def test_whatever_is_accepted_fits_the_schema_and_nothing_else_happens(
    name: str, data: st.DataObject
) -> None:
    schema = with_results(STUDIO[name].params)
    values = data.draw(anything(schema))
    try:
        checked = Params(schema, KNOWN).check(values)
    except ValidationFailed:
        return
    assert jsonschema_rs.is_valid(schema, checked)
    assert checked.keys() <= schema["properties"].keys()
    for field, value in checked.items():
        default = schema["properties"][field].get("default")
        assert value == values.get(field, default)
        assert type(value) is not float
