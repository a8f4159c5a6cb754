"""Models that fail from some moment on, whatever they are asked: the provider is down, or hangs."""

import msgspec

from simulator.exchange import Arrival
from simulator.steering import Steering


class Outage(msgspec.Struct, frozen=True):
    """The body of `PUT /_outages`: all calls of `model`, by the provider's name of it, have this
    steering, in place of the one in their texts."""

    model: str
    steering: Steering


_decode = msgspec.json.Decoder(Outage).decode


async def begin(arrival: Arrival) -> str:
    """Let a model fail from now on."""
    outage = _decode(arrival.body)
    arrival.memory.outages[outage.model] = outage.steering
    await arrival.connection.send_json(200, {})
    return "completed"


async def end(arrival: Arrival) -> str:
    """Let all models work again."""
    arrival.memory.outages.clear()
    await arrival.connection.send_json(200, {})
    return "completed"
