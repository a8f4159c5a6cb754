"""A job is run whatever becomes of its trace."""

import asyncio
from uuid import uuid4

import pytest

from tests.collector import recording
from work.jobs import claims
from work.jobs.running import RunningJob
from work.jobs.traces import traced


def test_a_job_whose_trace_cannot_be_read_has_one_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(_: object) -> str:
        raise RuntimeError("The column is missing.")

    async def run() -> None:
        async with traced(RunningJob(uuid4(), uuid4(), "tests.job", attempt=1)):
            pass

    monkeypatch.setattr(claims, "traceparent_of", fail)
    with recording() as exporter:
        asyncio.run(run())
    [span] = exporter.get_finished_spans()
    assert (span.name, span.parent) == ("job tests.job", None)
    assert span.status.is_unset
