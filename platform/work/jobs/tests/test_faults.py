"""Handlers with faults."""

import pytest

from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import new_job, wait_for_status, written

pytestmark = pytest.mark.usefixtures("committed", "worker")


@pytest.mark.parametrize("kind", [handlers.RAISING, handlers.FORGETFUL])
def test_a_job_that_its_handler_does_not_end_is_ended_as_lost(kind: str) -> None:
    job_id = new_job(kind)

    wait_for_status(job_id, Job.Status.FAILED, seconds=5)

    assert written(job_id) == ["begun", "lost"]
