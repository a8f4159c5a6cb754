"""Counters, gauges and histograms that are cheap to change: docs/decisions/0065.

A series is an object with plain numbers. Who counts often keeps the object that `labels` returns.
Nothing is locked: a change of a number is a few bytecodes, between which CPython does not switch
threads.
"""

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from observability.metrics.labels import OTHER
from observability.metrics.registry import REGISTRY

# The series of one metric. What comes later is counted as `other`, under every label.
MAX_SERIES = 2_000

# Upper bounds in seconds: of steps on this machine, and of calls to models.
STEP_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 20.0)
CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)

Labels = tuple[str, ...]
Series = TypeVar("Series")


class Count:
    """One series of a counter."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def inc(self, amount: int = 1) -> None:
        self.value += amount


class Level:
    """One series of a gauge."""

    __slots__ = ("value",)

    def __init__(self, value: float = 0) -> None:
        self.value = value

    def inc(self) -> None:
        self.value += 1

    def dec(self) -> None:
        self.value -= 1

    def set(self, value: float) -> None:
        self.value = value


class Distribution:
    """One series of a histogram. `counts` has a number for each bucket, not cumulative; the last is
    of the values above all bounds."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


class Instrument(Collector, Generic[Series]):
    """A metric with its series. `labels` names the labels, each with the closed set of its
    values."""

    def __init__(self, name: str, documentation: str, /, **labels: Container[str]) -> None:
        self.name = name
        self.documentation = documentation
        self.label_names: Labels = tuple(labels)
        self._known = tuple(labels.values())
        self._series: dict[Labels, Series] = {} if labels else {(): self._new()}
        self._adding = Lock()
        REGISTRY.register(self)

    def labels(self, *values: str) -> Series:
        """The series of these values, in the order of the labels."""
        return self._series.get(values) or self._bounded(values)

    def describe(self) -> Iterable[Metric]:
        return [self._family()]

    def collect(self) -> Iterable[Metric]:
        family = self._family()
        for values, series in list(self._series.items()):
            self._expose(family, values, series)
        return [family]

    def _known_ones(self, values: Labels) -> Labels:
        """These values, with `other` in place of those that are none of the label's."""
        pairs = zip(values, self._known, strict=True)
        return tuple(value if value in known else OTHER for value, known in pairs)

    def _bounded(self, values: Labels) -> Series:
        with self._adding:
            bounded = self._known_ones(values)
            if bounded not in self._series and len(self._series) >= MAX_SERIES:
                bounded = (OTHER,) * len(bounded)
            if bounded not in self._series:
                self._series[bounded] = self._new()
            return self._series[bounded]

    @abstractmethod
    def _new(self) -> Series: ...

    @abstractmethod
    def _family(self) -> Metric: ...

    @abstractmethod
    def _expose(self, family: Any, values: Labels, series: Series) -> None: ...


class Counter(Instrument[Count]):
    """Integers that only grow. They are shown divided by `per`: amounts are counted in nano-USD and
    shown in USD."""

    def __init__(
        self, name: str, documentation: str, /, *, per: int = 1, **labels: Container[str]
    ) -> None:
        self._per = per
        super().__init__(name, documentation, **labels)

    def _new(self) -> Count:
        return Count()

    def _family(self) -> CounterMetricFamily:
        return CounterMetricFamily(self.name, self.documentation, labels=self.label_names)

    def _expose(self, family: Any, values: Labels, series: Count) -> None:
        family.add_metric(values, series.value / self._per)


class Gauge(Instrument[Level]):
    """Numbers that rise and fall."""

    def replace(self, levels: Mapping[Labels, float]) -> None:
        """Show these series alone."""
        self._series = {values: Level(value) for values, value in levels.items()}

    def _new(self) -> Level:
        return Level()

    def _family(self) -> GaugeMetricFamily:
        return GaugeMetricFamily(self.name, self.documentation, labels=self.label_names)

    def _expose(self, family: Any, values: Labels, series: Level) -> None:
        family.add_metric(values, series.value)


class ReadGauge(Gauge):
    """Numbers that `read` returns at each scrape, by the values of their labels. It does no
    I/O."""

    def __init__(
        self,
        name: str,
        documentation: str,
        read: Callable[[], Mapping[Labels, float]],
        /,
        **labels: Container[str],
    ) -> None:
        self._read = read
        super().__init__(name, documentation, **labels)

    def collect(self) -> Iterable[Metric]:
        levels = list(self._read().items())[:MAX_SERIES]
        self.replace({self._known_ones(values): level for values, level in levels})
        return super().collect()


class Histogram(Instrument[Distribution]):
    """Values counted in buckets, whose upper bounds are `bounds`."""

    def __init__(
        self, name: str, documentation: str, bounds: Sequence[float], /, **labels: Container[str]
    ) -> None:
        self._bounds = bounds
        super().__init__(name, documentation, **labels)

    def _new(self) -> Distribution:
        return Distribution(self._bounds)

    def _family(self) -> HistogramMetricFamily:
        return HistogramMetricFamily(self.name, self.documentation, labels=self.label_names)

    def _expose(self, family: Any, values: Labels, series: Distribution) -> None:
        buckets, total = [], 0
        for bound, count in zip([*self._bounds, "+Inf"], list(series.counts), strict=True):
            total += count
            buckets.append((str(bound), total))
        family.add_metric(values, buckets, series.sum)
