"""`/v1`: the OpenAI-compatible interface, an ASGI application of its own.

It does not pass through Django's request handler, which costs many times what a call here does
(docs/decisions/0004-v1-is-raw-asgi.md).
"""
