"""How answers of /api are written."""

import json
from uuid import UUID

from django.utils.translation import gettext_lazy
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import Serializer
from rest_framework.utils.serializer_helpers import ReturnDict, ReturnList

from common.api import FastJSONRenderer

ANSWERS = [
    ReturnDict(
        {
            "id": 7,
            "rows": ReturnList([{"text": "Meer 🌊 </script> \u2028"}], serializer=Serializer()),
        },
        serializer=Serializer(),
    ),
    {"none": None, "yes": True, "small": 0.000001, "large": 12345678.9, "7": "x"},
    {"lazy": gettext_lazy("Enter a number."), "id": UUID(int=7)},
    ["x"],
    "text",
]


def test_answers_are_what_rest_framework_writes() -> None:
    for answer in ANSWERS:
        assert json.loads(FastJSONRenderer().render(answer)) == json.loads(
            JSONRenderer().render(answer)
        )


def test_nothing_is_no_body() -> None:
    assert FastJSONRenderer().render(None) == b""
