"""Benchmarks: the service beside what is measured in the same run, and what is promised of it."""
