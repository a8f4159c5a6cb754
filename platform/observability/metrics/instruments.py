"""Counters, gauges and histograms of prometheus-client, with a closed set of values for each label.

Who counts often keeps the series that `labels` returns: docs/decisions/0065.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

import prometheus_client
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics import MetricWrapperBase
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
Series = TypeVar("Series", bound=MetricWrapperBase)


class BoundedMetric(Generic[Series]):
    """A metric whose series are those of known label values."""

    def __init__(self, metric: Series, known: Sequence[Container[str]]) -> None:
        self._metric = metric
        self._known = known
        self._series: dict[Labels, Series] = {} if known else {(): metric}
        self._adding = Lock()

    def labels(self, *values: str) -> Series:
        """The series of these values, in the order of the labels."""
        return self._series.get(values) or self._bounded(values)

    def _bounded(self, values: Labels) -> Series:
        with self._adding:
            bounded = _known_ones(values, self._known)
            if bounded not in self._series and len(self._series) >= MAX_SERIES:
                bounded = (OTHER,) * len(bounded)
            if bounded not in self._series:
                self._series[bounded] = self._metric.labels(*bounded)
            return self._series[bounded]


def counter(
    name: str, documentation: str, /, **labels: Container[str]
) -> BoundedMetric[prometheus_client.Counter]:
    """Numbers that only grow. `labels` names the labels, each with its values; so below."""
    metric = prometheus_client.Counter(name, documentation, (*labels,), registry=REGISTRY)
    return BoundedMetric(metric, (*labels.values(),))


def gauge(
    name: str, documentation: str, /, **labels: Container[str]
) -> BoundedMetric[prometheus_client.Gauge]:
    """Numbers that rise and fall."""
    metric = prometheus_client.Gauge(name, documentation, (*labels,), registry=REGISTRY)
    return BoundedMetric(metric, (*labels.values(),))


def histogram(
    name: str, documentation: str, bounds: Sequence[float], /, **labels: Container[str]
) -> BoundedMetric[prometheus_client.Histogram]:
    """Values counted in buckets, whose upper bounds are `bounds`."""
    metric = prometheus_client.Histogram(
        name, documentation, (*labels,), buckets=bounds, registry=REGISTRY
    )
    return BoundedMetric(metric, (*labels.values(),))


class ReadGauge(Collector):
    """Numbers that `read` returns at each scrape, by the values of their labels. It does no
    I/O."""

    def __init__(
        self,
        name: str,
        documentation: str,
        read: Callable[[], Mapping[Labels, float]] = dict,
        /,
        **labels: Container[str],
    ) -> None:
        self.label_names = (*labels,)
        self._described = (name, documentation)
        self._known = (*labels.values(),)
        self._read = read
        REGISTRY.register(self)

    def replace(self, levels: Mapping[Labels, float]) -> None:
        """Show these numbers from now on."""
        self._read = lambda: levels

    def describe(self) -> Iterable[Metric]:
        return [GaugeMetricFamily(*self._described, labels=self.label_names)]

    def collect(self) -> Iterable[Metric]:
        family = GaugeMetricFamily(*self._described, labels=self.label_names)
        levels = list(self._read().items())[:MAX_SERIES]
        for values, level in {_known_ones(name, self._known): at for name, at in levels}.items():
            family.add_metric(values, level)
        return [family]


def _known_ones(values: Labels, known: Sequence[Container[str]]) -> Labels:
    """These values, with `other` in place of those that are none of the label's."""
    pairs = zip(values, known, strict=True)
    return tuple(value if value in its else OTHER for value, its in pairs)
