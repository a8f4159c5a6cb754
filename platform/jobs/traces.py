"""The span of a job's run, in the trace of the request that has queued the job."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common.database import DatabaseUnavailable
from jobs import claims
from jobs.running import RunningJob
from tracing import spans


@asynccontextmanager
async def traced(job: RunningJob) -> AsyncIterator[None]:
    """A span around the run of a job: in the process of its request under the request, in a worker
    under the `traceparent` of the job's row."""
    if not spans.is_on():
        yield
        return
    with spans.span(
        f"job {job.kind}",
        span_kind="consumer",
        parent="" if spans.traceparent() else await _traceparent_of(job),
        job_id=str(job.id),
        job_kind=job.kind,
        attempt=job.attempt,
    ):
        yield


async def _traceparent_of(job: RunningJob) -> str:
    """Without the database the job has a trace of its own."""
    try:
        return await claims.traceparent_of(job.id)
    except DatabaseUnavailable:
        return ""
