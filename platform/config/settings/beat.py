"""The scheduler's tasks, and their intervals in seconds."""

from typing import Any

from celery.schedules import crontab


def _every(seconds: float, task: str) -> dict[str, Any]:
    """A task that no worker took in time, ten seconds at least, is dropped: the next one is due."""
    return {"task": task, "schedule": seconds, "options": {"expires": max(seconds, 10.0)}}


# What a dead process has left is free within a minute, also where one of these sweeps is late: its
# lease of 30 s runs out, a sweep doubts it, and one that comes ten seconds later gives it up.
_LEFT_BY_DEAD = 5.0


def _daily(hour: int, minute: int, task: str) -> dict[str, Any]:
    """Once a day, at that UTC time."""
    return {
        "task": task,
        "schedule": crontab(hour=hour, minute=minute),
        "options": {"expires": 3600.0},
    }


CELERY_BEAT_SCHEDULE: dict[str, Any] = {
    **{
        f"heartbeat-{queue}": {
            "task": "work.jobs.tasks.record_heartbeat",
            "args": (queue,),
            "schedule": 10.0,
            "options": {"queue": queue, "expires": 60.0},
        }
        for queue in ("interactive", "media", "default")
    },
    "end-lost-jobs": _every(_LEFT_BY_DEAD, "work.jobs.tasks.end_lost_jobs"),
    "purge-ended-jobs": _every(3600.0, "work.jobs.tasks.purge_ended_jobs"),
    "purge-expired-leases": _every(3600.0, "work.leases.tasks.purge_expired_leases"),
    "purge-user-events": _every(3600.0, "events.tasks.purge_user_events"),
    "expire-lapsed-charges": _every(_LEFT_BY_DEAD, "billing.tasks.expire_lapsed_charges"),
    "forget-idempotency-keys": _every(60.0, "billing.tasks.forget_idempotency_keys"),
    "forget-undelivered-answers": _every(60.0, "billing.tasks.forget_undelivered_answers"),
    "send-emails": _every(3.0, "accounts.tasks.send_emails"),
    "purge-sign-ins-and-mails": _every(60.0, "accounts.tasks.purge_expired"),
    "purge-expired-files": _every(60.0, "media.files.tasks.purge_expired"),
    "settle-lapsed-applies": _every(30.0, "projects.tasks.settle_lapsed_applies"),
    "sweep-connectors": _every(600.0, "integrations.connectors.tasks.sweep"),
    "purge-ended-streams": _every(60.0, "conversations.tasks.purge_ended_streams"),
    "purge-teams": _every(3600.0, "teams.tasks.purge"),
    "delete-data": _every(60.0, "privacy.tasks.delete_data"),
    "reconcile": _every(300.0, "billing.tasks.reconcile"),
    "reconcile-everything": _daily(3, 17, "billing.tasks.reconcile_everything"),
    "keep-months": _every(3600.0, "billing.tasks.keep_months"),
}
