"""What is the same in every image wire: how many pictures come, and what a picture's bytes are."""

from base64 import b64encode
from collections.abc import Callable

from simulator import steering
from simulator.exchange import Arrival, Exchange, steer
from simulator.memory import Hung
from simulator.pictures import Picture
from simulator.provider import Problem, Refused

# A signed address is a permission by itself; like the object stores, ours refuses a second one.
_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "x-key")


def order(
    arrival: Arrival, *, model: str, prompt: str, n: int, size: tuple[int, int], quality: str | None
) -> tuple[Exchange, list[Picture]]:
    """What was asked for, and the pictures that will come. `size` is in pixels.

    A wish for fewer holds for all calls of its marker. Raises `Refused`.
    """
    call = arrival.call
    call.model, call.quality = model, quality
    call.size = "{}x{}".format(*size)
    call.prompt_tokens = len(prompt.split())
    exchange = steer(arrival, [prompt], prompt)
    room = n
    if exchange.steering.pictures is not None:
        marked = arrival.memory.journal.marked(call.marker) if call.marker else []
        room = exchange.steering.pictures - sum(other.images for other in marked)
    call.images = max(0, min(n, room))
    shown = steering.without(prompt)
    seeds = [f"{call.id}-{index}" for index in range(call.images)]
    return exchange, [Picture(shown, *size, seed) for seed in seeds]


async def send(exchange: Exchange, payload: Callable[[], dict[str, object]], images: int) -> str:
    """Send an answer that has its pictures in it, and return the outcome."""

    def emit() -> None:
        exchange.call.images_emitted = images

    await exchange.begin()
    await exchange.connection.pause(exchange.steering.delay_ms / 1000)
    return await exchange.send_whole(payload(), emit)


def encoded(exchange: Exchange, picture: Picture) -> str:
    """The picture as base64."""
    text = b64encode(_data(picture, exchange.steering)).decode()
    return f"{text[:-4]}!?=" if exchange.steering.bad_b64 else text


def hang(arrival: Arrival, hung: Hung) -> str:
    """Keep a picture where it can be fetched, and return its address."""
    name = hung.picture.seed
    arrival.memory.pictures.keep(name, hung)
    return f"{arrival.connection.origin}/_pictures/{name}.png"


async def show(arrival: Arrival) -> str:
    """A picture at its address. Raises `Refused`."""
    connection = arrival.connection
    hung = arrival.memory.pictures.get(arrival.path["name"])
    if hung is None or hung.steering.missing:
        raise Refused(Problem(404, "There is no such picture."))
    if any(name in connection.headers for name in _CREDENTIALS):
        raise Refused(Problem(400, "Only one mechanism of authentication is allowed."))
    hung.call.images_emitted += 1
    data = _data(hung.picture, hung.steering)
    await connection.send_body(200, data, {"content-type": "image/png"})
    return "completed"


def _data(picture: Picture, wishes: steering.Steering) -> bytes:
    sound = b"This is no picture." if wishes.no_picture else picture.png()
    return sound + bytes(wishes.padding)
