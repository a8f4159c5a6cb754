"""How near the bill of an answer is to its tokens, where the provider has counted all of it, a part
of it or nothing: replies in six kinds of text, read to their end, stopped, and cut off.

The true count is the provider's, of what it has counted, and else that of `o200k_base`.
"""

import asyncio
import json
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from statistics import median

import aiohttp
import uvloop
from django.db import connection

from bench import noise, replies, report, seed, servers
from bench.corpus import CODE, SCRIPTS, Corpus
from bench.report import Target
from bench.servers import BenchError, Server
from billing.models import Charge
from billing.services.reconciliation import find_violations
from conversations.models import Message
from devserver.paths import ROOT
from devserver.ports import LOOPBACK
from simulator import process

CALLS = 10_000
_AT_ONCE = 24
_ACCOUNTS = 24
_SEED = 13
_MODEL = "gpt-6-luna"
# One address may make 1,000 requests a minute.
_SOURCES = [f"127.0.0.{number}" for number in range(100, 140)]
_PYTHON = ROOT / "var/bench/litellm/bin/python"
_ENDS = ("counted", "uncounted", "cut", "stopped")


@dataclass(slots=True)
class Ask:
    """One reply to ask for: its kind of text, how it ends, and its steering."""

    kind: str
    end: str
    steering: dict[str, object]
    stop_after: int = 0  # deltas
    reply_id: str = ""
    failure: str = ""


@dataclass(slots=True)
class Errors:
    """Relative errors of bills: 0.1 is a tenth too much."""

    all: list[float] = field(default_factory=list)
    by_end: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    by_kind: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def run() -> list[Target]:
    """Measure and print."""
    lines = replies.open_lines(seed.open_accounts(_ACCOUNTS), 1)
    asks = _asks()
    with (
        process.running() as simulator,
        servers.service(
            simulator, CIRCUIT_FAILURES="1000000", CALLER_FAILURES="1000000", FAILED_CALLS="1000000"
        ) as service,
        noise.reported("the estimates"),
    ):
        uvloop.run(_ask_all(service, lines, asks))
    errors, above = _compare(asks)
    _print(errors)
    every = sorted(map(abs, errors.all))
    middle, worst = median(every), every[int(len(every) * 0.99)]
    failed = [ask.failure for ask in asks if ask.failure]
    broken = len(find_violations())
    return [
        Target("error of a bill, median", f"{middle:.1%}", "<= 5 %", middle <= 0.05),
        Target("error of a bill, 99th percentile", f"{worst:.1%}", "<= 30 %", worst <= 0.30),
        Target("bills above their hold", str(above), "0", above == 0),
        Target("replies without a bill", ", ".join(failed[:3]) or "none", "none", not failed),
        Target("violations after them", str(broken), "0", broken == 0),
    ]


def _asks() -> list[Ask]:
    random, corpus = Random(_SEED), Corpus()  # noqa: S311 - no secret
    return [_ask(random, corpus) for _ in range(CALLS)]


def _ask(random: Random, corpus: Corpus) -> Ask:
    kind, end = random.choice((*SCRIPTS, CODE)), random.choice(_ENDS)
    text = corpus.excerpt(kind, random)
    words = len(text.split())
    steering: dict[str, object] = {"text": text, "delta_tokens": random.randint(1, 50)}
    if end != "counted":
        steering["no_usage"] = True
    if end == "cut":
        steering |= random.choice(({"fail": "after"}, {"drop": True}))
        steering["after_tokens"] = random.randint(1, max(1, words - 1))
    if end == "stopped":
        steering["delay_ms"] = 3
    return Ask(kind, end, steering, stop_after=random.randint(1, 8))


async def _ask_all(server: Server, lines: Sequence[replies.Line], asks: list[Ask]) -> None:
    """Ask for all replies, one after the other in each conversation."""
    waiting = iter(asks)
    sessions = [
        aiohttp.ClientSession(
            f"http://{LOOPBACK}:{server.port}",
            connector=aiohttp.TCPConnector(limit=0, local_addr=(source, 0)),
        )
        for source in _SOURCES
    ]
    turns = cycle(sessions)

    async def ask_on(line: replies.Line) -> None:
        for ask in waiting:
            try:
                await _read(next(turns), line, ask)
            except aiohttp.ClientError as error:
                ask.failure = type(error).__name__

    try:
        await asyncio.gather(*map(ask_on, lines[:_AT_ONCE]))
    finally:
        for session in sessions:
            await session.close()


async def _read(session: aiohttp.ClientSession, line: replies.Line, ask: Ask) -> None:
    path = f"/api/conversations/{line.conversation.pk}/messages"
    headers = {"Authorization": f"Bearer {line.token}"}
    body = {
        "content": f"Answer.\n@sim {json.dumps(ask.steering)}",
        "parent_id": None,
        "model": _MODEL,
    }
    deltas = 0
    async with session.post(path, json=body, headers=headers) as response:
        if response.status != 200:
            ask.failure = f"{response.status}: {await response.text()}"
            return
        async for row in response.content:
            if not row.startswith(b"data: {"):
                continue
            part = json.loads(row[len(b"data: ") :])
            if part["type"] == "start":
                ask.reply_id = part["messageId"]
            deltas += part["type"] == "text-delta"
            if ask.end == "stopped" and deltas == ask.stop_after:
                deltas += 1
                async with session.post(f"{path}/{ask.reply_id}/stop", headers=headers):
                    pass


def _compare(asks: list[Ask]) -> tuple[Errors, int]:
    """The errors of all bills, and how many are above their hold."""
    connection.close()  # the connection was idle for a long time
    ids = [ask.reply_id for ask in asks if ask.reply_id]
    texts = dict(Message.objects.filter(pk__in=ids).values_list("pk", "content"))
    charges = {str(charge.pk): charge for charge in Charge.objects.filter(pk__in=ids)}
    shown = {str(pk): text for pk, text in texts.items()}
    true = dict(zip(shown, _count(list(shown.values())), strict=True))
    errors, above = Errors(), 0
    for ask in asks:
        charge = charges.get(ask.reply_id)
        if charge is None or charge.status != Charge.Status.SETTLED:
            ask.failure = ask.failure or f"a charge that is {charge and charge.status}"
            continue
        above += charge.cost > charge.worst_cost
        counted = len(shown[ask.reply_id].split())
        tokens = counted if ask.end == "counted" else true[ask.reply_id]
        error = charge.tokens_out / tokens - 1
        errors.all.append(error)
        errors.by_end[ask.end].append(error)
        if ask.end != "counted":
            errors.by_kind[ask.kind].append(error)
    return errors, above


def _count(texts: list[str]) -> list[int]:
    if not _PYTHON.exists():
        raise BenchError("LiteLLM, which ships the tokenizer, is not installed. `make bench` does.")
    command = [str(_PYTHON), "tools/bench/count_tokens.py"]
    done = subprocess.run(
        command, input=json.dumps(texts), capture_output=True, text=True, check=True, cwd=ROOT
    )
    counts: list[int] = json.loads(done.stdout)
    return counts


def _print(errors: Errors) -> None:
    rows = [_row("all", errors.all)]
    rows += [_row(end, errors.by_end[end]) for end in _ENDS]
    rows += [_row(f"{kind}, not counted", errors.by_kind[kind]) for kind in (*SCRIPTS, CODE)]
    print(f"{len(errors.all):,} streamed replies: the error of what was billed of their output")
    header = ("", "replies", "1 %", "25 %", "median", "75 %", "99 %", "median of sizes")
    print(report.table(header, rows), end="\n\n", flush=True)


def _row(name: str, errors: list[float]) -> tuple[str, ...]:
    ordered = sorted(errors)
    cut = [ordered[int(len(ordered) * share)] for share in (0.01, 0.25, 0.5, 0.75, 0.99)]
    return (
        name,
        f"{len(ordered):,}",
        *(f"{error:+.0%}" for error in cut),
        f"{median(map(abs, ordered)):.1%}",
    )
