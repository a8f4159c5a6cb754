"""The span of a job's run, in the trace of the request that has queued the job."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from observability.tracing import spans
from observability.tracing.spans import NO_SPAN, Span
from work.jobs import claims
from work.jobs.running import RunningJob

log = structlog.get_logger(__name__)


@asynccontextmanager
async def traced(job: RunningJob) -> AsyncIterator[Span]:
    """A span around the run of a job: in the process of its request under the request, in a worker
    under the `traceparent` of the job's row."""
    if not spans.is_on():
        yield NO_SPAN
        return
    with spans.span(
        f"job {job.kind}",
        span_kind="consumer",
        parent="" if spans.traceparent() else await _traceparent_of(job),
        job_id=str(job.id),
        job_kind=job.kind,
        attempt=job.attempt,
    ) as span:
        yield span


async def _traceparent_of(job: RunningJob) -> str:
    """Where it cannot be read, the job has a trace of its own: no job fails for its trace."""
    try:
        return await claims.traceparent_of(job.id)
    except Exception as error:
        log.warning("job.trace_not_found", job_id=str(job.id), error=type(error).__name__)
        return ""
