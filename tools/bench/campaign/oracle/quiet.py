"""Does anything still run? After a while nothing may."""

from django.db import connection

# What is open, and of which there may be none, each with its query.
OPEN = {
    "charges are held": "SELECT id FROM billing_charge WHERE status = 'held'",
    "jobs have not ended": "SELECT id FROM jobs_job WHERE ended_at IS NULL AND status <> 'paused'",
    "operations have not ended": "SELECT job_id FROM operations_operation WHERE state <> 'ended'",
    "replies run": "SELECT id FROM conversations_message WHERE status = 'running'",
    "cards are written": "SELECT id FROM council_generation WHERE status IN ('queued', 'running')",
    "councils run": "SELECT id FROM council_session WHERE status = 'running'",
    "runs go on": "SELECT id FROM projects_run WHERE status IN ('queued', 'running')",
    "steps have not ended": "SELECT id FROM projects_step WHERE ended_at IS NULL",
    "applies have not ended": "SELECT id FROM projects_apply WHERE ended_at IS NULL",
    "orders have not ended": "SELECT id FROM studios_generation WHERE ended_at IS NULL",
    "exports have not ended": (
        "SELECT id FROM userdata_export WHERE status IN ('queued', 'running')"
    ),
    "deletions have not ended": "SELECT account_id FROM userdata_deletion WHERE ended_at IS NULL",
    "files have expired and are there": (
        "SELECT id FROM files_storedfile WHERE expires_at < now() - interval '5 seconds'"
    ),
    "uploads have expired and are there": (
        "SELECT id FROM files_upload WHERE expires_at < now() - interval '5 seconds'"
    ),
}


def find_open_work() -> list[str]:
    found = []
    with connection.cursor() as cursor:
        for what, query in OPEN.items():
            cursor.execute(query)
            if rows := cursor.fetchall():
                found.append(f"{what}: {', '.join(str(row[0]) for row in rows[:5])}")
    return found
