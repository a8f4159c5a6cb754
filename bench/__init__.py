"""Benchmarks: the service against a bare pass-through, and the money functions under pgbench."""
