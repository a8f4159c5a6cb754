"""The routes of the simulator itself, and the lists of models."""

from simulator import vendors
from simulator.exchange import Arrival


async def health(arrival: Arrival) -> str:
    """Answer when the simulator runs."""
    await arrival.connection.send_json(200, {"status": "ok"})
    return "completed"


async def journal(arrival: Arrival) -> str:
    """All calls, or with `?marker=` the calls that a steering line marked."""
    entries = arrival.memory.journal.entries(arrival.connection.query.get("marker"))
    await arrival.connection.send_json(200, entries)
    return "completed"


async def clear_journal(arrival: Arrival) -> str:
    """Forget all calls."""
    arrival.memory.journal.clear()
    await arrival.connection.send_json(200, [])
    return "completed"


async def models(arrival: Arrival) -> str:
    """OpenAI's `GET /v1/models`."""
    provider = arrival.call.provider
    listed = [
        {"id": model, "object": "model", "created": 1_760_000_000, "owned_by": provider}
        for model in vendors.named(provider).models
    ]
    await arrival.connection.send_json(200, {"object": "list", "data": listed})
    return "completed"
