"""Jobs of the studios for the load: clips in flight at the provider, and a gallery of pictures."""

import random
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from accounts.models import User
from bench import seed
from simulator.bench_videos import BenchTask
from studios.models import Generation
from studios.preparation import prepare
from studios.services.ordering import place
from studios.types import Kind

ORDER = {"model": "gen4.5", "prompt": "A lighthouse at dusk."}
PICTURE_MODEL = "gpt-image-2.5-flare"
POLL_SECONDS = 5.0
# As many as a user may have.
_JOBS_OF_A_USER = 20

_POSTPONE = """
UPDATE jobs_job SET status = 'scheduled', attempt = 1, started_at = now() - interval '1 hour',
       due_at = now() + interval '1 hour'
WHERE id = ANY(%(jobs)s) AND ended_at IS NULL
"""
_BEGIN = """
UPDATE studios_generation SET status = 'running', started_at = now() WHERE id = ANY(%(jobs)s)
"""
_PUT_IN_FLIGHT = """
UPDATE operations_operation
SET state = 'running', provider_id = flight.task, submitted_at = now(), progress = 0.5
FROM unnest(%(jobs)s::uuid[], %(tasks)s::text[]) AS flight(job, task) WHERE job_id = flight.job
"""
_MAKE_DUE = """
UPDATE jobs_job SET due_at = now() + make_interval(secs => flight.pause)
FROM unnest(%(jobs)s::uuid[], %(pauses)s::float[]) AS flight(job, pause) WHERE id = flight.job
"""

_SEED_PICTURES = """
INSERT INTO studios_generation
    (id, account_id, kind, model, prompt, params, is_extension, status, progress, lead_seconds,
     reference, starred, created_at, started_at, ended_at)
SELECT uuidv7(), %(account)s, 'image', %(model)s, 'The sea, as of ' || n,
       '{"n": 1, "size": "1024x1024", "quality": "medium"}', false, 'completed', 100, 0, '',
       n %% 50 = 0, now(), now(), now()
FROM generate_series(1, %(count)s) n
"""
# A picture and its thumbnail.
_SEED_OUTPUTS = """
WITH made AS MATERIALIZED (
    SELECT id AS job, uuidv7() AS file, uuidv7() AS thumbnail FROM studios_generation
    WHERE account_id = %(account)s),
files AS (
    INSERT INTO files_storedfile (id, account_id, media_type, size, thumbnail_of_id, is_kept)
    SELECT file, %(account)s, 'image/png', 1000000, NULL::uuid, true FROM made
    UNION ALL
    SELECT thumbnail, %(account)s, 'image/webp', 20000, file, true FROM made)
INSERT INTO studios_generationoutput
    (generation_id, position, file_id, thumbnail_id, width, height, starred)
SELECT job, 0, file, thumbnail, 1024, 1024, false FROM made
"""
_SEED_CHARGES = """
INSERT INTO billing_charge
    (id, account_id, model_id, plan_id, price_version_id, source, kind, funding, status,
     request_id, owner_id, month, admitted_at, deadline_at, resolved_at, worst_cost, hold_plan,
     hold_balance, first_output_at, units, cost, charge_plan, charge_balance)
SELECT g.id, g.account_id, g.model, 'max', price.id, 'job', 'images', 'customer', 'settled',
       g.id::text, g.id, date_trunc('month', now())::date, now(), now(), now(), 50000000, 0,
       50000000, now(), '{"images": 1}'::jsonb, 50000000, 0, 50000000
FROM studios_generation g
CROSS JOIN (SELECT max(id) AS id FROM catalog_priceversion WHERE model_id = %(model)s) price
WHERE g.account_id = %(account)s
"""
_ANALYZE = """
VACUUM ANALYZE studios_generation, studios_generationoutput, files_storedfile, billing_charge
"""


def seed_pictures(user: User, count: int) -> None:
    """Finished jobs of a picture each."""
    parameters: dict[str, Any] = {"account": user.pk, "model": PICTURE_MODEL, "count": count}
    with connection.cursor() as cursor:
        for statement in (_SEED_PICTURES, _SEED_OUTPUTS, _SEED_CHARGES):
            cursor.execute(statement, parameters)
        # The server would analyse by itself, a little later.
        cursor.execute(_ANALYZE)


def order_clips(count: int) -> list[UUID]:
    """Clips that are ordered, and postponed until `put_in_flight`."""
    accounts = seed.open_accounts(-(-count // _JOBS_OF_A_USER))
    users = User.objects.in_bulk([account.account_id for account in accounts])
    jobs: list[UUID] = []
    with transaction.atomic():
        for user in users.values():
            ordered = prepare(user=user, kind=Kind.VIDEO, values={}, **ORDER)
            for _ in range(min(_JOBS_OF_A_USER, count - len(jobs))):
                jobs.append(place(prepared=ordered, request_key=None)[0].generation.pk)
        postpone(jobs)
        # No worker is told: nothing is to be submitted.
        connection.run_on_commit.clear()
    return jobs


def postpone(jobs: Sequence[UUID]) -> None:
    """Let jobs that have not ended wait for an hour."""
    with connection.cursor() as cursor:
        cursor.execute(_POSTPONE, {"jobs": [*jobs]})
        cursor.execute(_BEGIN, {"jobs": [*jobs]})


def put_in_flight(tasks: Mapping[UUID, BenchTask]) -> None:
    """Let postponed jobs run as these tasks of the provider's. Their first polls are spread as
    later ones are."""
    parameters: dict[str, Any] = {
        "jobs": [*tasks],
        "tasks": [task.id for task in tasks.values()],
        "pauses": [random.uniform(0, POLL_SECONDS) for _ in tasks],  # noqa: S311 - a load
    }
    with connection.cursor() as cursor:
        cursor.execute(_PUT_IN_FLIGHT, parameters)
        cursor.execute(_MAKE_DUE, parameters)


def ended(jobs: Sequence[UUID]) -> dict[UUID, str]:
    """The statuses of those jobs whose ends are committed."""
    rows = Generation.objects.filter(pk__in=jobs, ended_at__isnull=False)
    return dict(rows.values_list("pk", "status"))
