"""The ASGI application: finds the wire of a request, calls it, and records the outcome."""

from pathlib import Path

from simulator import dead_keys, providers, routes
from simulator.connection import BodyTooLarge, CallerGone, Connection, Receive, Scope, Send
from simulator.exchange import Arrival
from simulator.githost import app as githost
from simulator.githost.hosts import Hosts
from simulator.journal import Journal
from simulator.memory import Memory
from simulator.oauth import app as oauth
from simulator.oauth.exchange import State
from simulator.provider import Problem, Provider, Refused
from simulator.routes import Route


class Simulator:
    """`/{provider}/...` is the wire of that provider; Git hosts and authorization servers have
    paths of their own.

    `repositories` is the folder of the Git hosts, a temporary one where there is none.
    """

    def __init__(self, journal: Journal, repositories: Path | None = None) -> None:
        self._memory = Memory(journal)
        self._oauth = State()
        self._hosts = Hosts(repositories, issued=self._oauth.tokens)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = Connection(scope, receive, send)
        path = scope["raw_path"].decode("latin-1").partition("?")[0]
        try:
            # One of its paths lies below the interface of a Git host.
            if oauth.serves(scope["path"]):
                await oauth.respond(self._oauth, connection, scope["method"], scope["path"])
            elif githost.is_for_hosts(path):
                await githost.respond(self._hosts, connection, scope["method"], path)
            else:
                await self._answer(scope, connection)
        except CallerGone:
            pass
        finally:
            connection.close()

    async def _answer(self, scope: Scope, connection: Connection) -> None:
        path = scope["path"]
        name = path[1:].partition("/")[0]
        provider = providers.named(name)
        try:
            route, names = routes.find(scope["method"], path)
        except Refused as refusal:
            await _refuse(connection, provider, refusal.problem, "")
            return
        call = self._memory.journal.open(route.kind, name, path, connection.headers)
        call.key = dead_keys.fingerprint_of(dead_keys.key_in(connection.headers))
        try:
            body = await _admitted(route, provider, connection, self._memory)
            arrival = Arrival(
                call=call,
                provider=provider,
                connection=connection,
                body=body,
                path=names,
                memory=self._memory,
            )
            if outcome := await route.respond(arrival):
                call.finish(outcome)
        except Refused as refusal:
            call.finish("refused")
            await _refuse(connection, provider, refusal.problem, call.request_id)
        except CallerGone:
            call.finish("client_gone")
            raise


async def _admitted(
    route: Route, provider: Provider, connection: Connection, memory: Memory
) -> bytes:
    """The body of a call with a valid key."""
    try:
        body = await connection.body()
    except BodyTooLarge as error:
        raise Refused(Problem(413)) from error
    if not route.keyless:
        provider.require_key(connection)
        if problem := dead_keys.problem_of(memory.dead_keys, dead_keys.key_in(connection.headers)):
            raise Refused(problem)
    return body


async def _refuse(
    connection: Connection, provider: Provider, problem: Problem, request_id: str
) -> None:
    headers = provider.headers(request_id)
    if problem.retry_after is not None and provider.retry_after_header:
        headers["retry-after"] = str(problem.retry_after)
    await connection.send_json(problem.status, provider.error(problem, request_id), headers)
