"""The consumers of all WebSockets, by path, and the checks in front of them."""

from django.conf import settings
from django.http.request import validate_host

from common import request_line
from common.errors import NotFound, UnknownHost
from common.ids import request_id
from council.consumers import CouncilConsumer
from events.consumer import StreamConsumer, UserConsumer
from projects.consumers import ProjectConsumer
from server.asgi import Receive, Scope, Send, domain_of
from server.client_limit import ClientLimit
from server.refuse import refuse

# By the path, and by the path up to the id of a stream.
_BY_PATH: dict[str, type[StreamConsumer]] = {"/api/ws": UserConsumer}
_BY_FOLDER: dict[str, type[StreamConsumer]] = {
    "/api/council/ws": CouncilConsumer,
    "/api/project/ws": ProjectConsumer,
}


async def _route(scope: Scope, receive: Receive, send: Send) -> None:
    """Dispatch by path, after checking the host: Django does that for requests only."""
    path = scope["path"]
    folder = path.rpartition("/")[0]
    consumer = _BY_PATH.get(path) or _BY_FOLDER.get(folder)
    line = request_line.current()
    if consumer is not None:
        line.route = (path if path in _BY_PATH else f"{folder}/{{id}}").removeprefix("/")
    line.request_id = request_id(dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1"))
    if not validate_host(domain_of(scope["headers"]), settings.ALLOWED_HOSTS):
        await refuse(scope, send, UnknownHost())
    elif consumer is None:
        await refuse(scope, send, NotFound())
    else:
        await consumer()(scope, receive, send)


application = ClientLimit(_route)
