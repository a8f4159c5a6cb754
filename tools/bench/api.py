"""The CPU time of `/api`, beside the barest views of REST framework that run the same statements.

Each request is sent to the service and to the yardstick in turn, one at a time. The figure is the
CPU time of the web process, which does not depend on the load of the machine.
"""

import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import psutil
from django.db import connection, transaction
from django.test import Client as InProcess

from accounts import tokens
from accounts.models import User
from accounts.selectors.users import get_live_user
from ai.generations.endings import conclude
from ai.generations.types import Completion
from bench import noise, report, seed, servers
from bench.replies import Line, open_lines
from bench.report import milliseconds
from bench.servers import Server
from bench.web_app import Client
from billing.types import Ending
from conversations.selectors.conversations import get_conversation
from conversations.services import sending
from conversations.services.completion import REPLY
from conversations.services.preparation import prepare_message
from conversations.services.sending import StartedReply
from simulator import process

ME, LIST = "GET /api/users/me", "GET /api/conversations"
WHOLE, STREAMED = "a message, without a stream", "a message, with a stream"

_ROUNDS, _EACH, _WARM_UP = 4, 25, 10
_ADDRESSES = [f"127.0.0.{number}" for number in range(91, 95)]
_CONTENT = "Tell me something."


Statements = list[tuple[str, Any]]
# The statements of one request with their parameters, and the answer where the request reads.
Record = tuple[Statements, object]


def run() -> None:
    """Measure and print."""
    [account] = seed.open_accounts(1)
    [line] = open_lines([account], 1)
    records = record(line)
    with (
        TemporaryDirectory() as folder,
        process.running("--bench") as simulator,
        servers.service(simulator) as service,
    ):
        recorded = Path(folder, "records")
        recorded.write_bytes(pickle.dumps(records))
        with (
            servers.reply_yardstick(simulator, recorded) as yardstick,
            noise.reported("/api beside its statements"),
        ):
            ours, bare = _measure(service, yardstick, line)
    rows = [
        (
            name,
            str(len(records[name][0])),
            milliseconds(ours[name]),
            milliseconds(bare[name]),
            f"{bare[name] / ours[name]:.2f}",
        )
        for name in ours
    ]
    print("CPU time of a request, and of the barest view that makes the same statements")
    header = ("", "statements", "service", "barest view", "ratio")
    print(report.table(header, rows), end="\n\n", flush=True)


def record(line: Line) -> dict[str, Record]:
    """The statements of the service for each request. Everything is rolled back."""
    # Values that a process caches are in its caches.
    for _ in range(2):
        records = {
            ME: _read("/api/users/me", line.token),
            LIST: _read("/api/conversations", line.token),
            WHOLE: _send(line),
        }
    return {**records, STREAMED: records[WHOLE]}


def _read(path: str, token: str) -> Record:
    client = InProcess(headers={"Authorization": f"Bearer {token}", "Host": "127.0.0.1"})
    with _recorded() as statements:
        answer = client.get(path, secure=True)
    if answer.status_code != 200:
        raise servers.BenchError(f"{path} answered {answer.status_code}.")
    return statements, answer.json()


def _send(line: Line) -> Record:
    """A message, and the end of its reply."""
    with transaction.atomic():
        with _recorded() as statements:
            user = get_live_user(tokens.read_access(line.token))
            conversation = get_conversation(user, line.conversation.pk)
            started = sending.start(
                prepared=prepare_message(user, conversation, content=_CONTENT, parent_id=None),
                request_key=None,
                owner_id=uuid4(),
                request_id="bench",
            )
            assert isinstance(started, StartedReply)
            _conclude(started, user)
        transaction.set_rollback(True)
    return statements, None


def _conclude(started: StartedReply, user: User) -> None:
    conclude(
        REPLY,
        call_id=started.reply.pk,
        attempt=1,
        ending=Ending(
            started.reply.pk, user.pk, "settled", 1_000, {"tokens_in": 12, "tokens_out": 60}
        ),
        completion=Completion(content="word" + " word" * 59, finish_reason="stop"),
    )


@contextmanager
def _recorded() -> Iterator[Statements]:
    """The statements made in the block, without savepoints."""
    statements: Statements = []

    def note(execute: Callable[..., Any], sql: str, parameters: Any, *rest: Any) -> Any:
        if "SAVEPOINT" not in sql:
            statements.append((sql, _plain(parameters)))
        return execute(sql, parameters, *rest)

    with connection.execute_wrapper(note):
        yield statements


def _plain(parameter: Any) -> Any:
    """The parameters without choices of models, whose reading needs the models."""
    if isinstance(parameter, str):
        return str(parameter)
    if isinstance(parameter, list | tuple):
        return [_plain(each) for each in parameter]
    return parameter


def _measure(
    service: Server, yardstick: Server, line: Line
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of CPU time for each request: the service's, and the yardstick's."""
    messages = f"/api/conversations/{line.conversation.pk}/messages"
    ours = {ME: "/api/users/me", LIST: "/api/conversations", WHOLE: messages, STREAMED: messages}
    sums: list[dict[str, float]] = [dict.fromkeys(ours, 0.0), dict.fromkeys(ours, 0.0)]
    clients = [Client(server.port, _ADDRESSES, line.token) for server in (service, yardstick)]
    processes = [psutil.Process(server.pid) for server in (service, yardstick)]
    paths = [ours, {name: f"/same/{quote(name, safe='')}" for name in ours}]
    for count in (_WARM_UP, *[_EACH] * _ROUNDS):
        for name in ours:
            for client, running, path, total in zip(clients, processes, paths, sums, strict=True):
                before = running.cpu_times()
                for _ in range(count):
                    _ask(client, name, path[name])
                after = running.cpu_times()
                if count == _EACH:
                    total[name] += after.user + after.system - before.user - before.system
    asked = _ROUNDS * _EACH
    of_ours, of_bare = ({name: total / asked for name, total in each.items()} for each in sums)
    return of_ours, of_bare


def _ask(client: Client, name: str, path: str) -> None:
    if name in (ME, LIST):
        client.get(path, 200)
        return
    body = {"content": _CONTENT, "parent_id": None, "stream": name == STREAMED}
    client.post(path, json.dumps(body).encode())
