"""Traces of OpenTelemetry, off by default: docs/operations/tracing.md."""
