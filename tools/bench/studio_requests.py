"""The requests of a studio: an order, beside bare INSERTs of the rows that it writes; and the first
page of a long gallery, beside the bare rows of that page."""

import json
import time
from uuid import UUID

from django.db import connection, transaction

from accounts.models import User
from bench import noise, seed, servers
from bench.studio_jobs import ORDER, postpone, seed_pictures
from bench.web_app import ME, Client, Times
from simulator import process

PICTURES = 50_000
ORDERING, INSERTS = "POST /api/videos", "bare INSERTs of the same rows"
PAGE, ROWS = f"GET /api/images of {PICTURES:,}", "the rows of the page, as JSON"
STARRED = f"GET /api/images?starred=true of {PICTURES:,}"

_ROUNDS, _WARM_UP = 100, 10
# One address may make 100 requests a minute to /api/auth, and 1,000 to other paths.
_ADDRESSES = [f"127.0.0.{number}" for number in range(95, 99)]
# The tables that an order writes to, and the column that has the id of its job.
_WRITTEN = {
    "billing_charge": "id",
    "leases_lease": "owner_id",
    "jobs_job": "id",
    "operations_operation": "job_id",
    "studios_generation": "id",
}
_PAGE_ROWS = """
SELECT g.*, o.*, f.*, t.*, c.*
FROM (SELECT * FROM studios_generation
      WHERE account_id = %s AND kind = 'image' AND deleted_at IS NULL ORDER BY id DESC LIMIT 100) g
JOIN studios_generationoutput o ON o.generation_id = g.id
JOIN files_storedfile f ON f.id = o.file_id JOIN files_storedfile t ON t.id = o.thumbnail_id
JOIN billing_charge c ON c.id = g.id ORDER BY g.id DESC
"""


def measure() -> Times:
    """Seconds of each request and of its yardstick."""
    [account] = seed.open_accounts(1)
    user = User.objects.get(pk=account.account_id)
    seed_pictures(user, PICTURES)
    with (
        process.running("--bench") as simulator,
        # No worker takes the jobs.
        servers.service(simulator, MAX_STUDIO_JOBS="100000", STUDIO_QUOTA_MB="1000000") as service,
        noise.reported("the requests of the studios"),
    ):
        client = Client(service.port, _ADDRESSES, seed.open_sessions([user])[user.pk])
        return {**_orders(client), **_pages(client, user)}


def _orders(client: Client) -> Times:
    """Orders, and INSERTs of what each has written, in turn."""
    body = json.dumps(ORDER).encode()
    _copy_tables()
    times: Times = {ORDERING: [], INSERTS: []}
    jobs: list[UUID] = []
    for _ in range(_WARM_UP + _ROUNDS):
        started = time.perf_counter()
        answer = client.post("/api/videos", body, 202)
        times[ORDERING].append(time.perf_counter() - started)
        jobs.append(UUID(json.loads(answer)["id"]))
        times[INSERTS].append(_insert_again(jobs[-1]))
    # The workers of other measurements leave them alone.
    postpone(jobs)
    return {name: seconds[_WARM_UP:] for name, seconds in times.items()}


def _copy_tables() -> None:
    """Empty tables with the same columns, constraints and indexes."""
    with connection.cursor() as cursor:
        for table in (*_WRITTEN, "events_event"):
            cursor.execute(f"CREATE TABLE bench_{table} (LIKE {table} INCLUDING ALL)")


def _insert_again(job_id: UUID) -> float:
    """Seconds of a transaction with an INSERT for each row of an order, and one of its event."""
    started = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        for table, column in _WRITTEN.items():
            cursor.execute(
                f"INSERT INTO bench_{table} SELECT * FROM {table} WHERE {column} = %s",  # noqa: S608
                (job_id,),
            )
        cursor.execute(
            "INSERT INTO bench_events_event SELECT e.* FROM events_event e"
            " JOIN events_stream s ON s.id = e.stream_id AND s.last_seq = e.seq"
            " JOIN jobs_job j ON j.account_id = s.id WHERE j.id = %s",
            (job_id,),
        )
    return time.perf_counter() - started


def _pages(client: Client, user: User) -> Times:
    paths = {ME: "/api/auth/me", PAGE: "/api/images", STARRED: "/api/images?starred=true"}
    times: Times = {name: [] for name in (*paths, ROWS)}
    for _ in range(_WARM_UP + _ROUNDS):
        for name, path in paths.items():
            times[name].append(client.get(path, 200))
        times[ROWS].append(_read_rows(user))
    return {name: seconds[_WARM_UP:] for name, seconds in times.items()}


def _read_rows(user: User) -> float:
    started = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(_PAGE_ROWS, (user.pk,))
        json.dumps(cursor.fetchall(), default=str)
    return time.perf_counter() - started
