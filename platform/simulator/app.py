"""The simulator's routes: the providers' wires, and its own journal."""

from urllib.parse import parse_qs

from simulator import openai_chat, vendors
from simulator.connection import BodyTooLarge, CallerGone, Connection, Receive, Scope, Send
from simulator.exchange import Refused
from simulator.journal import Call, Journal
from simulator.vendors import Vendor

_CHAT = "/v1/chat/completions"
_MODELS = "/v1/models"


class Simulator:
    """The ASGI application. `/{provider}/v1/...` speaks that provider's wire."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = Connection(scope, receive, send)
        try:
            await self._route(scope, connection)
        except CallerGone:
            pass
        except Refused as refusal:
            # Outside a provider's wire there is no vendor; OpenAI's shape serves.
            await _refuse(connection, vendors.named(""), refusal)
        finally:
            connection.close()

    async def _route(self, scope: Scope, connection: Connection) -> None:
        path, method = scope["path"], scope["method"]
        provider, slash, rest = path[1:].partition("/")
        wire = slash + rest
        if path == "/_health" and method == "GET":
            await connection.send_json(200, {"status": "ok"})
        elif path == "/_journal" and method == "GET":
            marker = parse_qs(scope["query_string"].decode("latin-1")).get("marker", [None])[0]
            await connection.send_json(200, self._journal.entries(marker))
        elif path == "/_journal" and method == "DELETE":
            self._journal.clear()
            await connection.send_json(200, [])
        elif provider and wire == _CHAT and method == "POST":
            await self._chat(provider, path, connection)
        elif provider and wire == _MODELS and method == "GET":
            await _list_models(provider, connection)
        elif wire in (_CHAT, _MODELS) or path in ("/_health", "/_journal"):
            raise Refused(405, vendors.problem(405))
        else:
            unknown = vendors.problem(404, f"Unknown path {path}", "unknown_url")
            raise Refused(404, unknown)

    async def _chat(self, provider: str, path: str, connection: Connection) -> None:
        vendor = vendors.named(provider)
        call = self._journal.open(provider, path, connection.headers)
        try:
            call.finish(await _answer(call, vendor, connection))
        except Refused as refusal:
            call.finish("refused")
            await _refuse(connection, vendor, refusal)
        except CallerGone:
            call.finish("client_gone")
            raise


async def _answer(call: Call, vendor: Vendor, connection: Connection) -> str:
    try:
        body = await connection.body()
    except BodyTooLarge as error:
        raise Refused(413, vendors.problem(413)) from error
    _require_key(vendor, connection)
    return await openai_chat.respond(call, vendor, connection, body)


async def _list_models(provider: str, connection: Connection) -> None:
    vendor = vendors.named(provider)
    await connection.body()
    try:
        _require_key(vendor, connection)
    except Refused as refusal:
        await _refuse(connection, vendor, refusal)
        return
    listed = [
        {"id": model, "object": "model", "created": 1_760_000_000, "owned_by": provider}
        for model in vendor.models
    ]
    await connection.send_json(200, {"object": "list", "data": listed})


def _require_key(vendor: Vendor, connection: Connection) -> None:
    scheme, _, key = connection.headers.get("authorization", "").partition(" ")
    if not vendor.keyless and not (scheme.lower() == "bearer" and key.strip()):
        message = "You didn't provide an API key: send it as a Bearer token in Authorization."
        raise Refused(401, vendors.problem(401, message))


async def _refuse(connection: Connection, vendor: Vendor, refusal: Refused) -> None:
    await connection.send_json(refusal.status, vendor.error(refusal.problem), refusal.headers)
