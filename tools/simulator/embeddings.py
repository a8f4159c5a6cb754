"""OpenAI's `POST /v1/embeddings`: unit vectors, the same for the same text."""

import math
from base64 import b64encode
from hashlib import shake_256
from itertools import cycle, islice
from struct import pack
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from simulator.exchange import Arrival, Exchange, steer
from simulator.provider import Json, Problem, Refused

DIMENSIONS = 1536
MAX_ITEMS = 2048
MAX_ITEM_TOKENS = 8192
MAX_TOKENS = 300_000

Item = str | list[int]


class EmbeddingsBody(msgspec.Struct):
    input: str | list[str | int | list[int]]
    model: str
    dimensions: Annotated[int, Meta(ge=1, le=DIMENSIONS)] = DIMENSIONS
    encoding_format: Literal["float", "base64"] = "float"

    @property
    def items(self) -> list[Item]:
        """The inputs, each a text or a list of tokens. Raises `Refused` if they are of mixed
        types."""
        if isinstance(self.input, str):
            return [self.input]
        texts = [item for item in self.input if isinstance(item, str)]
        tokens = [item for item in self.input if isinstance(item, int)]
        lists = [item for item in self.input if isinstance(item, list)]
        if len(self.input) not in (len(texts), len(tokens), len(lists)):
            raise _invalid("Its items must all be of the same type.")
        return [tokens] if tokens else [*texts, *lists]


async def respond(arrival: Arrival) -> str:
    """Answer one call and return its outcome. Raises `Refused`, `CallerGone`."""
    body = _read(arrival.body)
    call, items = arrival.call, body.items
    call.model = body.model
    call.prompt_tokens = _checked(items)
    texts = [item for item in items if isinstance(item, str)]
    exchange = steer(arrival, texts, texts[0] if texts else "")
    options = exchange.steering
    call.vectors = len(items) if options.vectors is None else options.vectors

    def emit() -> None:
        call.vectors_emitted = call.vectors

    await exchange.begin()
    await exchange.connection.pause(options.delay_ms / 1000)
    length = options.dimensions or body.dimensions
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(item, length, body)}
        for index, item in enumerate(islice(cycle(items), call.vectors))
    ]
    listed: Json = {"object": "list", "data": data, "model": body.model}
    return await exchange.send_whole(listed | _usage(exchange), emit)


def vector(item: Item, dimensions: int) -> list[float]:
    """Numbers drawn from the text, scaled to unit length. A shorter vector is a longer one, cut and
    scaled again."""
    drawn = shake_256(msgspec.json.encode(item)).digest(dimensions)
    odd = [2 * byte - 255 for byte in drawn]  # never zero, so that the length is positive
    length = math.sqrt(sum(number * number for number in odd))
    return [number / length for number in odd]


def _read(body: bytes) -> EmbeddingsBody:
    try:
        return msgspec.json.decode(body, type=EmbeddingsBody)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}")) from error


def _checked(items: list[Item]) -> int:
    """The number of tokens of all inputs; a word of a text is one token. Raises `Refused` for too
    many."""
    if not items or not all(items):
        raise _invalid("It must not be empty.")
    if len(items) > MAX_ITEMS:
        raise _invalid(f"It may have at most {MAX_ITEMS} items.")
    counts = [max(1, len(item.split() if isinstance(item, str) else item)) for item in items]
    if (longest := max(counts)) > MAX_ITEM_TOKENS:
        message = f"The maximum context length is {MAX_ITEM_TOKENS} tokens; one item has {longest}."
        raise Refused(Problem(400, message, "context_length_exceeded", "input"))
    if (total := sum(counts)) > MAX_TOKENS:
        message = f"Requested {total} tokens, at most {MAX_TOKENS} are possible in one request."
        raise Refused(Problem(400, message, "max_tokens_per_request", "input"))
    return total


def _encoded(item: Item, dimensions: int, body: EmbeddingsBody) -> list[float] | str:
    numbers = vector(item, dimensions)
    if body.encoding_format == "float":
        return numbers
    return b64encode(pack(f"<{dimensions}f", *numbers)).decode()


def _usage(exchange: Exchange) -> Json:
    if exchange.steering.no_usage:
        return {}
    tokens = 0 if exchange.steering.zero_usage else exchange.call.prompt_tokens
    return {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def _invalid(why: str) -> Refused:
    return Refused(Problem(400, f"Invalid 'input'. {why}", param="input"))
