"""Calls per second and latency: service and yardstick in turn, in several rounds.

Turns spread the load of other programs over both; the results are medians over the rounds.
"""

from dataclasses import dataclass, field
from statistics import median

from bench.load import Result, chat, embeddings, press, tool_calls

CONNECTIONS = 16
# The number of texts of an embeddings call.
INPUTS = 256
_WARM_UP_SECONDS = 2.0


@dataclass(slots=True)
class Series:
    """The results of one subject over all rounds."""

    plain: list[Result] = field(default_factory=list)
    streams: list[Result] = field(default_factory=list)
    tools: list[Result] = field(default_factory=list)
    alone: list[Result] = field(default_factory=list)

    @property
    def plain_rate(self) -> float:
        return median(result.rate for result in self.plain)

    @property
    def stream_rate(self) -> float:
        return median(result.rate for result in self.streams)

    @property
    def tools_rate(self) -> float:
        return median(result.rate for result in self.tools)

    @property
    def alone_median(self) -> float:
        """The median of single calls, in seconds."""
        return median(result.median for result in self.alone)

    @property
    def alone_p99(self) -> float:
        """The 99th percentile of single calls, in seconds."""
        return median(result.p99 for result in self.alone)

    def results(self) -> list[Result]:
        return self.plain + self.streams + self.tools + self.alone


class Subject:
    """A server under load on a port; warm-up calls are not part of the series. Streams with tools
    are measured where there are keys that have tools."""

    def __init__(
        self, port: int, keys: list[str], keys_with_tools: list[str] | None = None
    ) -> None:
        self.series = Series()
        self.warm_up = Result()
        self._plain = chat(port, keys, stream=False)
        self._streams = chat(port, keys, stream=True)
        self._tools = tool_calls(port, keys_with_tools) if keys_with_tools else None

    async def warm(self) -> None:
        """Fill pools and caches, without measuring."""
        for requests in filter(None, (self._plain, self._streams, self._tools)):
            result = await press(requests, connections=CONNECTIONS, seconds=_WARM_UP_SECONDS)
            self.warm_up.latencies += result.latencies
            self.warm_up.failures += result.failures

    async def measure_plain(self, seconds: float) -> None:
        self.series.plain.append(await press(self._plain, connections=CONNECTIONS, seconds=seconds))

    async def measure_streams(self, seconds: float) -> None:
        self.series.streams.append(
            await press(self._streams, connections=CONNECTIONS, seconds=seconds)
        )

    async def measure_tools(self, seconds: float) -> None:
        if self._tools is not None:
            self.series.tools.append(
                await press(self._tools, connections=CONNECTIONS, seconds=seconds)
            )

    async def measure_alone(self, seconds: float) -> None:
        self.series.alone.append(await press(self._plain, connections=1, seconds=seconds))


async def measure(subjects: list[Subject], *, rounds: int, seconds: float) -> None:
    """Run the same load on each subject in every round; each measurement lasts `seconds`."""
    for subject in subjects:
        await subject.warm()
    for _ in range(rounds):
        for subject in subjects:
            await subject.measure_plain(seconds)
        for subject in subjects:
            await subject.measure_streams(seconds)
        for subject in subjects:
            await subject.measure_tools(seconds)
        for subject in subjects:
            await subject.measure_alone(seconds)


async def measure_embeddings(
    ports: tuple[int, ...], keys: list[str], rounds: int, seconds: float
) -> list[Result]:
    """The latency of an embeddings call of many inputs, one at a time, on each port in turn: one
    result for each port, over all rounds."""
    requests = [embeddings(port, keys, inputs=INPUTS) for port in ports]
    results = [Result() for _ in ports]
    for _ in range(rounds):
        for each, result in zip(requests, results, strict=True):
            pressed = await press(each, connections=1, seconds=seconds)
            result.latencies += pressed.latencies
            result.failures += pressed.failures
    return results
