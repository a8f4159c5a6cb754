"""Sends the messages that make workers start jobs sooner, without waiting for the broker.

A thread sends them. A message that cannot be sent is dropped: workers also poll for jobs.
"""

import queue
import threading
import time
from functools import cache
from uuid import UUID

import structlog
from celery import current_app

from work.jobs.models import Job

log = structlog.get_logger(__name__)

# Sent by its name: the modules of the task run jobs, and those enqueue others.
RUN_JOB = "work.jobs.tasks.run_job"
MAX_WAITING = 10_000
# Seconds after which the workers have polled for the job.
EXPIRES_SECONDS = 30.0
# Seconds without attempts after a failure of the broker.
PAUSE_SECONDS = 1.0


class Dispatcher:
    """Sends messages from a thread of its own."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[UUID, Job.Queue]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="dispatch", daemon=True).start()

    def send(self, job_id: UUID, to: Job.Queue) -> None:
        """Send a message soon, if the broker is there. Neither waits nor raises."""
        if self._waiting.qsize() < MAX_WAITING:
            self._waiting.put((job_id, to))

    def _run(self) -> None:
        while True:
            job_id, to = self._waiting.get()
            try:
                current_app.send_task(
                    RUN_JOB, (str(job_id),), queue=to, expires=EXPIRES_SECONDS, retry=False
                )
            except Exception as error:
                # Any error: nothing may end this thread.
                log.warning("job.not_sent", error=type(error).__name__)
                time.sleep(PAUSE_SECONDS)
                self._forget()

    def _forget(self) -> None:
        """Drop the messages that wait."""
        for _ in range(self._waiting.qsize()):
            self._waiting.get()


@cache
def get_dispatcher() -> Dispatcher:
    """This process's dispatcher."""
    return Dispatcher()
