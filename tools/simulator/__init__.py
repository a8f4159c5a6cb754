"""A real HTTP server that speaks the providers' wires, for the local default, tests and benchmarks.

It runs as a process of its own (`python -m simulator`), bound to 127.0.0.1, and imports nothing of
the project: its journal is the outside witness of what was really asked and really emitted.
"""
