"""`POST /v1/embeddings`: the body and the answer."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from common.errors import DomainError
from publicapi.v1.bodies import WrongShape, decode, unescaped_quotes
from publicapi.v1.errors import InputTooLong, InvalidInput, UnsupportedEncoding
from publicapi.v1.ignored import ignored_fields

MAX_INPUTS = 256
MAX_CHARACTERS = 12_000
# The length of the vectors of `text-embedding-3-small`.
MAX_DIMENSIONS = 1536

# A large body could contain millions of texts, which take long to decode: a body with more
# unescaped quotes than this is not decoded.
LARGE_BODY = 1_000_000
MAX_QUOTES = 10_000


# --- The body -----------------------------------------------------------------------------------
# The bounds in `extra_json_schema` are checked below, with better messages than the decoder's.

Text = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": MAX_CHARACTERS})]


class EmbeddingsBody(Struct):
    """The fields that have a meaning here; every other one (user, ...) is accepted and ignored."""

    model: Annotated[str, Meta(description="The id of an embeddings model.")]
    input: (
        Text
        | Annotated[list[Text], Meta(extra_json_schema={"minItems": 1, "maxItems": MAX_INPUTS})]
    )
    encoding_format: Annotated[
        Literal["float", "base64"] | None,
        Meta(description="Numbers (the default), or base64 of little-endian float32."),
    ] = None
    dimensions: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_DIMENSIONS)] | None,
        Meta(description="Shorter vectors: the first so many numbers, scaled to length one."),
    ] = None


# --- The answer ---------------------------------------------------------------------------------


class EmbeddingRow(Struct, tag_field="object", tag="embedding"):
    """The vector of one text: numbers, or base64 of little-endian float32."""

    index: Annotated[int, Meta(description="The position of the text in `input`.")]
    embedding: list[float] | str


class EmbeddingsUsage(Struct):
    """The tokens billed."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(Struct, tag_field="object", tag="list"):
    """A vector for each text, in their order."""

    data: list[EmbeddingRow]
    model: str
    usage: EmbeddingsUsage


# --- Checks -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmbeddingsInput:
    """A validated request. `dimensions` is None for the model's own; `ignored` are the names of
    fields that have no effect."""

    model: str
    inputs: tuple[str, ...]
    base64: bool
    dimensions: int | None
    ignored: frozenset[str]


_FIELDS = frozenset(EmbeddingsBody.__struct_fields__)

_decoder = msgspec.json.Decoder(EmbeddingsBody)


def parse(body: bytes) -> EmbeddingsInput:
    """Check a body. Raises InvalidBody, InvalidInput, InputTooLong or UnsupportedEncoding."""
    if len(body) > LARGE_BODY and unescaped_quotes(body) > MAX_QUOTES:
        raise _too_many()
    try:
        data = decode(_decoder, body)
    except WrongShape as error:
        raise _explained(error) from None
    inputs = (data.input,) if isinstance(data.input, str) else tuple(data.input)
    _check(inputs)
    return EmbeddingsInput(
        model=data.model,
        inputs=inputs,
        base64=data.encoding_format == "base64",
        dimensions=data.dimensions,
        ignored=frozenset(ignored_fields(body, _FIELDS, {})),
    )


def _check(inputs: tuple[str, ...]) -> None:
    if not inputs:
        raise InvalidInput("`input` is empty: send at least one text.")
    if len(inputs) > MAX_INPUTS:
        raise _too_many()
    for index, text in enumerate(inputs):
        place = f"input[{index}]" if len(inputs) > 1 else "input"
        if not text:
            raise InvalidInput(f"Text {index} of `input` is empty.", param=place)
        if len(text) > MAX_CHARACTERS:
            raise InputTooLong(
                f"Text {index} of `input` has {len(text):,} characters; at most "
                f"{MAX_CHARACTERS:,} are taken. Split it.",
                param=place,
            )
        if "\0" in text:
            raise InvalidInput(
                f"Text {index} of `input` holds a NUL character; remove it.", param=place
            )


def _too_many() -> InvalidInput:
    return InvalidInput(f"`input` may hold at most {MAX_INPUTS} texts. Send several requests.")


def _explained(error: WrongShape) -> DomainError:
    match error.field:
        case "input" if error.is_missing:
            return InvalidInput("`input` is missing: send a text or an array of texts.")
        case "input":
            return InvalidInput(
                "`input` must be a text or an array of texts; token ids are not taken. "
                "In LangChain set `OpenAIEmbeddings(check_embedding_ctx_length=False)`.",
                **error.extra,
            )
        case "encoding_format":
            return UnsupportedEncoding()
        case "dimensions":
            return InvalidInput(
                f"`dimensions` must be from 1 to {MAX_DIMENSIONS}.", param="dimensions"
            )
    return error
