"""What the stores say: queues, jobs, mails, periodic work. The beat reads them, for all processes.

They are read every few seconds on an event loop of its own, not at each scrape: a scrape is
answered whatever the stores do. What cannot be read is not shown.
"""

import asyncio
import json
import threading
import time
from typing import Any, cast

import structlog
from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

from common.database import Database, DatabaseUnavailable, get_database
from common.money import NUSD_PER_USD
from observability.metrics.instruments import Labels, ReadGauge, gauge
from work.jobs.models import Job

log = structlog.get_logger(__name__)

READ_SECONDS = 5.0
REDIS_SECONDS = 2.0
DAY_SECONDS = 86_400.0

QUEUES = frozenset(str(queue) for queue in Job.Queue.values)
SWEEPS = frozenset(
    name for name in settings.CELERY_BEAT_SCHEDULE if not name.startswith("heartbeat-")
)
RECONCILIATIONS = frozenset({"reconcile", "reconcile-everything"})

queued_messages = ReadGauge(
    "platform_queued_messages", "Messages that wait in a queue of Celery.", queue=QUEUES
)
oldest_message = ReadGauge(
    "platform_oldest_message_age_seconds",
    "Age of the message that has waited longest; 0 for an empty queue.",
    queue=QUEUES,
)
heartbeat = ReadGauge(
    "platform_queue_heartbeat_timestamp_seconds",
    "When a worker last took a heartbeat out of a queue; 0 where none ever has.",
    queue=QUEUES,
)
queued_jobs = ReadGauge("platform_queued_jobs", "Jobs that wait for a worker.", queue=QUEUES)
oldest_job = ReadGauge(
    "platform_oldest_queued_job_age_seconds",
    "Age of the job that has waited longest for a worker; 0 if none waits.",
    queue=QUEUES,
)
held = ReadGauge("platform_held_usd", "What open charges hold.")
held_charges = ReadGauge("platform_held_charges", "Charges that are open.")
waiting_mails = ReadGauge("platform_waiting_mails", "Mails in the outbox.")
overdue_mail = ReadGauge(
    "platform_overdue_mail_seconds", "Time since the mail was due that has been due for longest."
)
failed_mails = ReadGauge("platform_failed_mails", "Mails of the last day that were given up.")
swept_at = ReadGauge(
    "platform_sweep_success_timestamp_seconds",
    "When a piece of periodic work last ended well; 0 where it never has.",
    sweep=SWEEPS,
)
sweep_seconds = ReadGauge("platform_sweep_duration_seconds", "How long that took.", sweep=SWEEPS)
sweep_interval = ReadGauge(
    "platform_sweep_interval_seconds", "How often a piece of periodic work is due.", sweep=SWEEPS
)
violations = ReadGauge(
    "platform_money_violations",
    "Rows that broke an invariant of money when they were last looked for; 20 of each at most.",
    sweep=RECONCILIATIONS,
)
months_ahead = ReadGauge(
    "platform_charge_months_ahead", "Months after this one for which charges have a partition."
)
strays = ReadGauge(
    "platform_charges_without_month", "Charges that are in no month's partition; 1,000 at most."
)
is_readable = gauge(
    "platform_store_readable",
    "Whether the beat could read a store.",
    store=frozenset({"database", "redis"}),
)

# By queue: how many, and the seconds of the oldest.
_JOBS = """
SELECT queue, count(*), extract(epoch FROM now() - min(queued_at))::float8
FROM jobs_job WHERE status = 'queued' GROUP BY queue"""
_HEARTBEATS = "SELECT queue, extract(epoch FROM seen_at)::float8 FROM jobs_queueheartbeat"
_HELD = """
SELECT count(*), coalesce(sum(hold_plan + hold_balance), 0)::bigint
FROM billing_charge WHERE status = 'held'"""
_MAILS = """
SELECT count(*) FILTER (WHERE ended_at IS NULL),
       count(*) FILTER (WHERE outcome = 'failed'),
       coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE ended_at IS NULL)), 0)::float8
FROM accounts_outgoingemail WHERE ended_at IS NULL OR outcome = 'failed'"""
# Months, and then strays: `billing.services.months` makes the former, and moves the latter.
_MONTHS = """
SELECT (SELECT count(*) FROM pg_class JOIN pg_inherits ON inhrelid = oid
        WHERE inhparent = 'billing_charge'::regclass AND relname <> 'billing_charge_default'
        AND to_date(right(relname, 7), 'YYYY_MM') > now() AT TIME ZONE 'UTC'),
       (SELECT count(*) FROM (SELECT FROM billing_charge_default LIMIT 1000) AS found)"""
_SWEEPS = "SELECT name, extract(epoch FROM succeeded_at)::float8, seconds, found FROM common_sweep"

_OF_DATABASE = (
    *(heartbeat, queued_jobs, oldest_job, held, held_charges, waiting_mails, overdue_mail),
    *(failed_mails, swept_at, sweep_seconds, violations, months_ahead, strays),
)
_OF_REDIS = (queued_messages, oldest_message)


def start() -> None:
    """Read the stores, in a thread of its own, until the process ends."""
    for metric in (*_OF_DATABASE, *_OF_REDIS):
        metric.replace({})
    sweep_interval.replace({(name,): _interval(name) for name in SWEEPS})
    threading.Thread(
        target=lambda: asyncio.run(_read_on()), name="store metrics", daemon=True
    ).start()


async def _read_on() -> None:
    while True:
        await _read()
        await asyncio.sleep(READ_SECONDS)


async def _read() -> None:
    """Read both stores. A store that fails takes its metrics with it."""
    readings = {
        "database": (_read_database(get_database()), _OF_DATABASE),
        "redis": (_read_redis(), _OF_REDIS),
    }
    for store, (reading, metrics) in readings.items():
        try:
            await reading
        except (DatabaseUnavailable, RedisError, OSError):
            is_read = False
        except Exception:
            # Nothing ends this loop: all of these metrics would stand still.
            log.exception("metrics.not_read", store=store)
            is_read = False
        else:
            is_read = True
        is_readable.labels(store).set(is_read)
        if not is_read:
            for metric in metrics:
                metric.replace({})


async def _read_database(database: Database) -> None:
    jobs = {queue: (count, age) for queue, count, age in await database.rows(_JOBS)}
    queued_jobs.replace({(queue,): jobs.get(queue, (0, 0))[0] for queue in QUEUES})
    oldest_job.replace({(queue,): max(0.0, jobs.get(queue, (0, 0.0))[1]) for queue in QUEUES})
    heartbeats: dict[str, float] = dict(await database.rows(_HEARTBEATS))
    heartbeat.replace({(queue,): heartbeats.get(queue, 0.0) for queue in QUEUES})
    charges, nusd = await database.row(_HELD)
    held_charges.replace({(): charges})
    held.replace({(): nusd / NUSD_PER_USD})
    waiting, failed, overdue = await database.row(_MAILS)
    waiting_mails.replace({(): waiting})
    failed_mails.replace({(): failed})
    overdue_mail.replace({(): max(0.0, overdue)})
    sweeps = {name: values for name, *values in await database.rows(_SWEEPS)}
    swept_at.replace({(name,): sweeps.get(name, [0])[0] for name in SWEEPS})
    sweep_seconds.replace({(name,): sweeps[name][1] for name in SWEEPS & sweeps.keys()})
    ahead, without_month = await database.row(_MONTHS)
    months_ahead.replace({(): ahead})
    strays.replace({(): without_month})
    violations.replace({(name,): sweeps[name][2] for name in RECONCILIATIONS & sweeps.keys()})


async def _read_redis() -> None:
    names = sorted(QUEUES)
    async with (
        asyncio.timeout(REDIS_SECONDS),
        Redis.from_url(settings.REDIS_URL) as redis,
        redis.pipeline(transaction=False) as pipeline,
    ):
        for name in names:
            pipeline.llen(name)
            pipeline.lindex(name, -1)  # messages are pushed to the left
        answers: list[Any] = await pipeline.execute()
    queued_messages.replace(dict(zip(_keys(names), answers[::2], strict=True)))
    ages = (_age(cast("bytes | None", message)) for message in answers[1::2])
    oldest_message.replace(dict(zip(_keys(names), ages, strict=True)))


def _interval(sweep: str) -> float:
    """The seconds between two runs. What has no interval runs once a day."""
    schedule = settings.CELERY_BEAT_SCHEDULE[sweep]["schedule"]
    return schedule if isinstance(schedule, float) else DAY_SECONDS


def _age(message: bytes | None) -> float:
    """The seconds since a message was sent; 0 for none, and for one that is not ours."""
    if message is None:
        return 0.0
    sent_at = json.loads(message).get("headers", {}).get("sent_at")
    return max(0.0, time.time() - sent_at) if isinstance(sent_at, float) else 0.0


def _keys(names: list[str]) -> list[Labels]:
    return [(name,) for name in names]
