"""The scheduler's tasks, and their intervals in seconds."""

from typing import Any

CELERY_BEAT_SCHEDULE: dict[str, Any] = {
    # A task that no worker took in time is dropped: the next one is due.
    **{
        f"heartbeat-{queue}": {
            "task": "jobs.tasks.record_heartbeat",
            "args": (queue,),
            "schedule": 10.0,
            "options": {"queue": queue, "expires": 60.0},
        }
        for queue in ("interactive", "media", "default")
    },
    "end-lost-jobs": {
        "task": "jobs.tasks.end_lost_jobs",
        "schedule": 10.0,
        "options": {"expires": 10.0},
    },
    "purge-ended-jobs": {
        "task": "jobs.tasks.purge_ended_jobs",
        "schedule": 3600.0,
        "options": {"expires": 3600.0},
    },
    "purge-expired-leases": {
        "task": "leases.tasks.purge_expired_leases",
        "schedule": 3600.0,
        "options": {"expires": 3600.0},
    },
    "purge-user-events": {
        "task": "events.tasks.purge_user_events",
        "schedule": 3600.0,
        "options": {"expires": 3600.0},
    },
    "expire-lapsed-charges": {
        "task": "billing.tasks.expire_lapsed_charges",
        "schedule": 10.0,
        "options": {"expires": 10.0},
    },
    "forget-idempotency-keys": {
        "task": "billing.tasks.forget_idempotency_keys",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "send-emails": {
        "task": "accounts.tasks.send_emails",
        "schedule": 3.0,
        "options": {"expires": 3.0},
    },
    "purge-sign-ins-and-mails": {
        "task": "accounts.tasks.purge_expired",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "purge-expired-files": {
        "task": "files.tasks.purge_expired",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "purge-ended-streams": {
        "task": "conversations.tasks.purge_ended_streams",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "reconcile": {
        "task": "billing.tasks.reconcile",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
}
