"""Celery's tasks: the hand-over of jobs, their sweeps, and the heartbeats."""

from uuid import UUID

from celery import shared_task

from common.sweeps import sweep
from work.jobs import heartbeats, sweeps
from work.jobs.dispatch import RUN_JOB
from work.jobs.worker import get_worker


@shared_task(name=RUN_JOB)
def run_job(job_id: str) -> None:
    """Hand a job over to this process's event loop."""
    get_worker().hand_over(UUID(job_id))


@sweep("end-lost-jobs")
def end_lost_jobs() -> None:
    """Every 5 s: end jobs whose workers died."""
    sweeps.end_lost_jobs()


@sweep("purge-ended-jobs")
def purge_ended_jobs() -> None:
    """Every hour: delete jobs that ended a week ago."""
    sweeps.purge_ended_jobs()


@shared_task
def record_heartbeat(queue: str) -> None:
    """Every 10 s, in every queue: record that its messages are taken."""
    heartbeats.record(queue=queue)
