"""How long an embeddings call of many inputs takes, one at a time: the pass-through and the service
in turn."""

from bench.load import Result, embeddings, press

INPUTS = 256


async def measure(
    ports: tuple[int, ...], keys: list[str], rounds: int, seconds: float
) -> list[Result]:
    """One result for each port, of all rounds together."""
    requests = [embeddings(port, keys, inputs=INPUTS) for port in ports]
    results = [Result() for _ in ports]
    for _ in range(rounds):
        for each, result in zip(requests, results, strict=True):
            pressed = await press(each, connections=1, seconds=seconds)
            result.latencies += pressed.latencies
            result.failures += pressed.failures
    return results
