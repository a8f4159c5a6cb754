"""docs/operations/metrics.md names what there is."""

from collections.abc import Iterator

from prometheus_client.metrics import MetricWrapperBase

import accounts.metrics  # noqa: F401
import config.metrics
import config.store_metrics  # noqa: F401
import events.metrics
import publicapi.v1.app  # noqa: F401
from common.pool_metrics import PoolCollector
from devserver.paths import ROOT
from observability.metrics.instruments import ReadGauge
from observability.metrics.registry import REGISTRY
from tests.documents import assert_same, rows, section

PAGE = ROOT / "docs" / "operations" / "metrics.md"
TABLES = ("Calls", "Requests", "Processes", "Stores")

Metric = tuple[str, str, str]


def existing() -> Iterator[Metric]:
    """The name, type and labels of each metric of ours."""
    for collector in REGISTRY._collector_to_names:
        if isinstance(collector, MetricWrapperBase | ReadGauge | PoolCollector):
            names = labels_of(collector)
            labels = ", ".join(f"`{name}`" for name in names).strip("`")
            for family in collector.describe():
                if not family.name.startswith("test_"):
                    suffix = "_total" if family.type == "counter" else ""
                    yield family.name + suffix, family.type, labels


def labels_of(collector: MetricWrapperBase | ReadGauge | PoolCollector) -> tuple[str, ...]:
    if isinstance(collector, MetricWrapperBase):
        return tuple(collector._labelnames)
    return ("pool",) if isinstance(collector, PoolCollector) else collector.label_names


def test_the_tables_have_all_metrics_with_their_labels() -> None:
    assert events.metrics.open_sockets is not None
    stated = [(name, kind, labels) for title in TABLES for name, kind, labels, _ in table(title)]
    assert_same(stated, existing(), str(PAGE))


def documented() -> set[str]:
    """The names of all metrics in the tables."""
    return {row[0] for title in TABLES for row in table(title)}


def table(title: str) -> list[list[str]]:
    return rows(section(PAGE, title))
