"""The classes of libraries that ours override beyond what the libraries promise."""

import hashlib
import inspect

import pytest
from celery.apps.beat import Beat
from celery.apps.worker import Worker
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db.backends.postgresql.base import DatabaseWrapper
from servestatic.middleware import ServeStaticMiddleware
from uvicorn import Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

# The class, the beginning of the SHA-256 of its source, and the file of ours that relies on it.
RECORDED: list[tuple[type, str, str]] = [
    (Worker, "c725044a34717389", "platform/config/celery_programs.py"),
    (Beat, "71b33935e4f6f03b", "platform/config/celery_programs.py"),
    (DatabaseWrapper, "7d085fe2e40f021d", "platform/common/postgresql/base.py"),
    (Server, "06e799f7c58f8be6", "platform/server/serve.py"),
    (HttpToolsProtocol, "18fdf324b11bf160", "platform/server/connections/http.py"),
    (RequestResponseCycle, "e67d470d435dcc1c", "platform/server/connections/http.py"),
    (WebSocketsSansIOProtocol, "0bbcec98938432f7", "platform/server/connections/websocket.py"),
    (ASGIHandler, "22f8000ae0f2f5ea", "platform/server/handler.py"),
    (ASGIRequest, "8ee0e5326d49e0ef", "platform/server/handler.py"),
    (ServeStaticMiddleware, "3c1a7d5f6d8de0f2", "platform/server/handler.py"),
]


@pytest.mark.parametrize(("library_class", "recorded", "file"), RECORDED)
def test_an_overridden_class_is_the_one_that_was_read(
    library_class: type, recorded: str, file: str
) -> None:
    current = hashlib.sha256(inspect.getsource(library_class).encode()).hexdigest()[:16]
    name = f"{library_class.__module__}.{library_class.__qualname__}"
    assert current == recorded, (
        f"{name} has changed. Read it again beside {file}, whose classes override or use its "
        f"methods; mend {file} where needed, then record {current!r} here and raise the bound in "
        "requirements.in."
    )
