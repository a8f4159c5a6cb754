"""The pools of connections to PostgreSQL, as they count themselves: nothing is added to a query."""

from collections import Counter as Totals
from collections.abc import Iterable

from django.db import connections
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from common import database
from observability.metrics.registry import REGISTRY

# The number that a pool has, and its metric. Milliseconds are shown as seconds.
_LEVELS = {
    "pool_size": ("platform_pool_connections", "Connections that a pool has open."),
    "pool_available": ("platform_pool_available", "Connections that are free."),
    "requests_waiting": ("platform_pool_waiting", "Requests that wait for a connection."),
}
_COUNTS = {
    "requests_num": ("platform_pool_requests_total", "Requests for a connection."),
    "requests_queued": ("platform_pool_queued_total", "Requests that had to wait."),
    "requests_wait_ms": ("platform_pool_wait_seconds_total", "Time that requests have waited."),
    "requests_errors": ("platform_pool_errors_total", "Requests that got no connection in time."),
}


class PoolCollector(Collector):
    """Reads the numbers at each scrape. `django` is the pool of requests, `calls` the one of
    calls."""

    def describe(self) -> Iterable[Metric]:
        return self._families({})

    def collect(self) -> Iterable[Metric]:
        calls: Totals[str] = Totals()
        for stats in database.pool_stats():
            calls.update(stats)
        return self._families({"calls": calls, "django": _django_stats()})

    def _families(self, pools: dict[str, dict[str, int]]) -> Iterable[Metric]:
        for key, (name, documentation) in _LEVELS.items():
            level = GaugeMetricFamily(name, documentation, labels=["pool"])
            for pool, stats in pools.items():
                level.add_metric([pool], stats.get(key, 0))
            yield level
        for key, (name, documentation) in _COUNTS.items():
            count = CounterMetricFamily(name, documentation, labels=["pool"])
            for pool, stats in pools.items():
                scale = 1000 if key.endswith("_ms") else 1
                count.add_metric([pool], stats.get(key, 0) / scale)
            yield count


def _django_stats() -> dict[str, int]:
    """Those of Django's pool, if it was opened: a look at `pool` itself would open one."""
    pools = type(connections["default"])._connection_pools  # type: ignore[attr-defined]
    pool = pools.get("default")
    return pool.get_stats() if pool else {}


REGISTRY.register(PoolCollector())
