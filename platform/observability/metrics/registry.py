"""The registry of this process: everything that its metrics port shows."""

from prometheus_client import CollectorRegistry, ProcessCollector

REGISTRY = CollectorRegistry()
# CPU seconds, memory and open files, in the names that all of Prometheus' clients use.
ProcessCollector(registry=REGISTRY)
