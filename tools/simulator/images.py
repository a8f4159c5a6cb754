"""The common parts of all image wires: the number of pictures, and their bytes."""

from base64 import b64encode
from collections.abc import Callable

from simulator import steering
from simulator.exchange import Arrival, Exchange, steer
from simulator.memory import StoredPicture
from simulator.pictures import Picture
from simulator.provider import Problem, Refused

# A signed URL is a credential by itself. Like object stores, this one refuses a second credential.
_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "x-key")


def order(
    arrival: Arrival,
    *,
    model: str,
    prompt: str,
    n: int,
    size: tuple[int, int],
    quality: str | None,
    references: tuple[bytes, ...] = (),
) -> tuple[Exchange, list[Picture]]:
    """The specification of the pictures, and the pictures to be sent. `size` is in pixels;
    `references` are pictures that were given.

    A steered limit counts for all calls of its marker together. Raises `Refused`.
    """
    call = arrival.call
    call.model, call.quality = model, quality
    call.size = "{}x{}".format(*size)
    call.references = len(references)
    call.prompt_tokens = len(prompt.split())
    exchange = steer(arrival, [prompt], prompt)
    room = n
    if exchange.steering.pictures is not None:
        marked = arrival.memory.journal.marked(call.marker) if call.marker else []
        room = exchange.steering.pictures - sum(other.images for other in marked)
    call.images = max(0, min(n, room))
    shown = steering.without(prompt)
    seeds = [f"{call.id}-{index}" for index in range(call.images)]
    return exchange, [Picture(shown, *size, seed, references) for seed in seeds]


async def send(exchange: Exchange, payload: Callable[[], dict[str, object]], images: int) -> str:
    """Send an answer with its pictures, and return the outcome."""

    def emit() -> None:
        exchange.call.images_emitted = images

    await exchange.begin()
    await exchange.connection.pause(exchange.steering.delay_ms / 1000)
    return await exchange.send_whole(payload(), emit)


def encoded(exchange: Exchange, picture: Picture) -> str:
    """The picture as base64."""
    text = b64encode(_data(picture, exchange.steering)).decode()
    return f"{text[:-4]}!?=" if exchange.steering.bad_b64 else text


def store(arrival: Arrival, stored: StoredPicture) -> str:
    """Store a picture, and return its URL."""
    name = stored.picture.seed
    arrival.memory.pictures.keep(name, stored)
    return f"{arrival.connection.origin}/_pictures/{name}.png"


async def show(arrival: Arrival) -> str:
    """Serve a stored picture. Raises `Refused`."""
    connection = arrival.connection
    stored = arrival.memory.pictures.get(arrival.path["name"])
    if stored is None or stored.steering.missing:
        raise Refused(Problem(404, "There is no such picture."))
    if any(name in connection.headers for name in _CREDENTIALS):
        raise Refused(Problem(400, "Only one mechanism of authentication is allowed."))
    stored.call.images_emitted += 1
    data = _data(stored.picture, stored.steering)
    await connection.send_body(200, data, {"content-type": "image/png"})
    return "completed"


def _data(picture: Picture, options: steering.Steering) -> bytes:
    sound = b"This is no picture." if options.no_picture else picture.png()
    return sound + bytes(options.padding)
