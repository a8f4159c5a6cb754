"""What the interface says of the parameters of a kind is true of each of its models."""

import jsonschema_rs
import pytest

from ai.catalog import seeds
from ai.catalog.listing import ModelSeed
from ai.catalog.param_union import order_fields
from ai.catalog.params import Params, with_results

STUDIO_MODELS = [each for each in seeds.hosted_models() if each.params]
ID = "01980000-0000-7000-8000-000000000000"


@pytest.mark.parametrize("model", STUDIO_MODELS, ids=lambda model: model.id)
def test_each_field_of_a_model_is_described(model: ModelSeed) -> None:
    fields = order_fields(model.modality)

    for name, field in with_results(model.params)["properties"].items():
        said = fields[name]
        assert (said["type"], said["title"]) == (field["type"], field["title"])
        assert said["description"]
        assert set(field.get("enum", ())) <= set(said.get("examples", ()))


@pytest.mark.parametrize("model", STUDIO_MODELS, ids=lambda model: model.id)
def test_what_a_model_takes_is_allowed(model: ModelSeed) -> None:
    schema = {"type": "object", "properties": order_fields(model.modality)}
    described = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)

    described.validate(Params(model.params).check({}))
    for name, field in model.params["properties"].items():
        for value in field.get("enum", ()):
            described.validate({name: value})
        if field.get("format"):
            described.validate({name: ID})
        if field.get("format") == "upload":
            described.validate({name: {"job": ID, "output": 1}})


def test_a_field_of_some_models_says_so() -> None:
    fields = order_fields("video")

    assert fields["end_image"]["description"].endswith("Not every model takes it.")
    assert not fields["seconds"]["description"].endswith("Not every model takes it.")


def test_a_wrong_type_is_not_allowed() -> None:
    schema = {"type": "object", "properties": order_fields("image")}
    described = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)

    for body in ({"n": "2"}, {"references": ID}, {"references": ["none"]}, {"size": 1024}):
        assert not described.is_valid(body)
