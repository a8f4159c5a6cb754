"""The registry of this process: everything that its metrics port shows."""

from prometheus_client import CollectorRegistry, ProcessCollector, disable_created_metrics

# A process says when it has started; a line for each series would double the text.
disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY = CollectorRegistry()
# CPU seconds, memory and open files, in the names that all of Prometheus' clients use.
ProcessCollector(registry=REGISTRY)
