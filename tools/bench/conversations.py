"""The requests of a chat window: the list of conversations, a conversation with its messages, a
search.

The account has ten thousand conversations. Requests run one at a time, each kind in turn, beside
the smallest authenticated answer, and beside the rows of the messages, read and written as JSON
with nothing in between.
"""

import json
import os
import time
from statistics import median
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import psycopg
from django.db import connection

from accounts.models import User
from bench import noise, report, seed, servers
from bench.report import Target, milliseconds, p99
from bench.web_app import ME, Client, Times
from simulator import process

CONVERSATIONS, MESSAGES = 10_000, 2_000
LIST = f"the list of {CONVERSATIONS:,} conversations, first page"
DETAIL = f"a conversation with {MESSAGES:,} messages"
RARE, COMMON = "a search for a rare word", "a search for a word of every conversation"
BARE = "the rows of the messages alone, as JSON"

# Medians, in milliseconds.
PROMISED = {LIST: 20, DETAIL: 60}

_ROUNDS, _WARM_UP = 80, 5
# An address may request this 100 times a minute.
_ADDRESS = "127.0.0.90"
_MODEL = "gpt-6-luna"

_SEED_CONVERSATIONS = """
INSERT INTO conversations_conversation
    (id, account_id, title, title_source, model, system, activity)
SELECT uuidv7(), %(account)s, 'The sea, as of ' || n, 'model', %(model)s, '', uuidv7()
FROM generate_series(1, %(conversations)s) n
"""
_SEED_MESSAGES = """
INSERT INTO conversations_message
    (id, conversation_id, account_id, role, content, reasoning, model, reasoning_effort, status,
     finish_reason, context)
SELECT uuidv7(), c.id, c.account_id, 'user', 'sea ' || words.text, '', '', '', 'completed', '', '{}'
FROM conversations_conversation c
CROSS JOIN LATERAL (
    SELECT string_agg('word' || abs(hashtext(c.id::text || n)) %% 20000, ' ') AS text
    FROM generate_series(1, 60) n
) words
WHERE c.account_id = %(account)s
"""
_SEED_LONG = """
WITH ids AS MATERIALIZED (SELECT n, uuidv7() AS id FROM generate_series(1, %(messages)s) n)
INSERT INTO conversations_message
    (id, conversation_id, account_id, parent_id, role, content, reasoning, model, reasoning_effort,
     status, finish_reason, context, ended_at)
SELECT id, %(conversation)s, %(account)s, lag(id) OVER (ORDER BY n),
       CASE n %% 2 WHEN 1 THEN 'user' ELSE 'assistant' END,
       repeat('The sea is deep. ', 25), '', CASE n %% 2 WHEN 1 THEN '' ELSE %(model)s END, '',
       'completed', CASE n %% 2 WHEN 1 THEN '' ELSE 'stop' END,
       CASE n %% 2 WHEN 1 THEN '{}' ELSE
           '{"messages": 1, "omitted": 0, "input_tokens": 100, "attachments": []}' END::jsonb,
       CASE n %% 2 WHEN 1 THEN NULL ELSE now() END
FROM ids
"""
_SEED_CHARGES = """
INSERT INTO billing_charge
    (id, account_id, model_id, plan_id, price_version_id, source, kind, funding, status,
     request_id, owner_id, month, admitted_at, deadline_at, resolved_at, worst_cost, hold_plan,
     hold_balance, first_output_at, units, cost, charge_plan, charge_balance)
SELECT m.id, m.account_id, m.model, 'max', price.id, 'web', 'chat', 'customer', 'settled', 'bench',
       m.id, date_trunc('month', now())::date, now(), now(), now(), 12345678, 12345678, 0, now(),
       '{"tokens_in": 100, "tokens_out": 60}'::jsonb, 12345678, 12345678, 0
FROM conversations_message m
CROSS JOIN (SELECT max(id) AS id FROM catalog_priceversion WHERE model_id = %(model)s) price
WHERE m.conversation_id = %(conversation)s AND m.role = 'assistant'
"""
_ROWS = "SELECT * FROM conversations_message WHERE conversation_id = %s ORDER BY id"


def run() -> list[Target]:
    """Measure and print."""
    [account] = seed.open_accounts(1)
    user = User.objects.get(pk=account.account_id)
    conversation_id = _seed(user)
    with process.running("--bench") as simulator, servers.service(simulator) as service:
        client = Client(service.port, [_ADDRESS], seed.open_sessions([user])[user.pk])
        with noise.reported("the chat window's questions"):
            times = _measure(client, conversation_id)
    middle = {name: median(seconds) for name, seconds in times.items()}
    rows = [
        (name, milliseconds(middle[name]), milliseconds(p99(seconds)), _ratio(middle, name))
        for name, seconds in times.items()
    ]
    print(report.table(("", "median", "p99", f"of {ME}"), rows), end="\n\n", flush=True)
    return [
        Target(name, milliseconds(middle[name]), f"< {promised} ms", middle[name] < promised / 1000)
        for name, promised in PROMISED.items()
    ]


def _ratio(middle: dict[str, float], name: str) -> str:
    return f"{middle[name] / middle[ME]:.2f}"


def _seed(user: User) -> UUID:
    """Create the rows for all requests. Returns the id of the long conversation."""
    parameters: dict[str, Any] = {
        "account": user.pk,
        "conversations": CONVERSATIONS,
        "messages": MESSAGES,
        "model": _MODEL,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SEED_CONVERSATIONS, parameters)
        cursor.execute(_SEED_MESSAGES, parameters)
        newest = "SELECT max(id::text)::uuid FROM conversations_conversation WHERE account_id = %s"
        cursor.execute(newest, (user.pk,))
        parameters["conversation"] = conversation_id = cursor.fetchone()[0]
        cursor.execute(_SEED_LONG, parameters)
        cursor.execute(_SEED_CHARGES, parameters)
        # The server would analyse by itself, a little later.
        cursor.execute("VACUUM ANALYZE conversations_conversation, conversations_message")
    assert isinstance(conversation_id, UUID)
    return conversation_id


def _measure(client: Client, conversation_id: UUID) -> Times:
    """Seconds of each request, by its kind."""
    own = "/api/conversations"
    paths = {
        ME: "/api/auth/me",
        LIST: own,
        DETAIL: f"{own}/{conversation_id}",
        RARE: f"{own}?{urlencode({'q': 'word777'})}",
        COMMON: f"{own}?{urlencode({'q': 'sea'})}",
    }
    times: Times = {name: [] for name in [*paths, BARE]}
    with psycopg.connect(os.environ["DATABASE_URL"]) as bare:
        for _ in range(_ROUNDS + _WARM_UP):
            for name, path in paths.items():
                times[name].append(client.get(path, 200))
            times[BARE].append(_bare(bare, conversation_id))
    return {name: seconds[_WARM_UP:] for name, seconds in times.items()}


def _bare(database: psycopg.Connection[Any], conversation_id: UUID) -> float:
    started = time.perf_counter()
    rows = database.execute(_ROWS, (conversation_id,)).fetchall()
    json.dumps(rows, default=str)
    return time.perf_counter() - started
