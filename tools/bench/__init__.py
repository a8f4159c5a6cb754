"""Benchmarks: the service and its yardsticks, measured in one run, and the targets of the
service."""
