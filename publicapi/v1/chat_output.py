"""The form of an answer in a chat request: `response_format`."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ai.providers.types import JsonOutput
from publicapi.v1.bodies import decode_field
from publicapi.v1.chat_body import Unread
from publicapi.v1.definitions import MAX_SCHEMA_BYTES, Name, check_name, check_text, read_schema
from publicapi.v1.errors import InvalidBody

PLACE = "response_format"


class SentSchema(Struct):
    """The JSON Schema that the answer follows, an object. `strict`: the answer has to match it."""

    name: Name
    schema: Annotated[
        Unread,
        Meta(
            description=f"At most {MAX_SCHEMA_BYTES:,} bytes.", extra_json_schema={"type": "object"}
        ),
    ] = UNSET
    description: str | None = None
    strict: bool | None = None


class ResponseFormat(Struct):
    """`text`, which is as without the field; `json_object`, any JSON object; or `json_schema`."""

    type: Annotated[str, Meta(extra_json_schema={"enum": ["text", "json_object", "json_schema"]})]
    json_schema: SentSchema | UnsetType = UNSET


_decoder = msgspec.json.Decoder(ResponseFormat | None)


def read_output(sent: Unread) -> JsonOutput | None:
    """The form that an answer has to have; None for text. Raises InvalidBody."""
    form = None if sent is UNSET else decode_field(_decoder, sent, PLACE)
    if form is None or form.type == "text":
        return None
    if form.type == "json_object":
        return JsonOutput()
    if form.type != "json_schema":
        raise InvalidBody(
            "The `type` of `response_format` must be `text`, `json_object` or `json_schema`.",
            param=f"{PLACE}.type",
        )
    place = f"{PLACE}.json_schema"
    if form.json_schema is UNSET:
        raise InvalidBody("`response_format` needs its `json_schema`.", param=place)
    return _by_schema(form.json_schema, place)


def _by_schema(sent: SentSchema, place: str) -> JsonOutput:
    check_name(sent.name, f"{place}.name")
    check_text(sent.description or "", f"{place}.description")
    schema = read_schema(sent.schema, f"{place}.schema")
    if not schema:
        raise InvalidBody("`json_schema` needs its `schema`.", param=f"{place}.schema")
    return JsonOutput(schema, sent.name, sent.description or "", bool(sent.strict))
