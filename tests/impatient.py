"""The service's application with shorter deadlines, so that tests need not wait as long as they
are. `running_web(..., application="tests.impatient:application")` serves it."""

from config.asgi import application
from server import bodies
from server.connections import http

bodies.FIRST_SECONDS = 2.0
bodies.SILENT_SECONDS = 1.0
http.HEAD_SECONDS = 1.0

__all__ = ["application"]
