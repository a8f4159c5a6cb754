"""The web process with two more routes. `/begin/<kind>` begins a job of that kind of the tests, and
answers with its id; `/commit/<kind>` does not start it, as if the answer to its commit were lost.
"""

from collections.abc import MutableMapping
from typing import Any
from uuid import UUID

# First, for it sets Django up.
from config.asgi import application as web_application

# isort: split
from django.db import transaction

from ai.catalog.selectors import get_catalog
from ai.inference.holds import hold_request
from ai.inference.services import admit
from billing.services.holds import hold
from common.errors import DomainError
from common.ids import uuid7
from common.threads import in_thread
from events.services import open_stream
from tests.personas import new_user
from work.jobs import services
from work.jobs.executor import get_job_executor
from work.jobs.running import RunningJob
from work.jobs.tests.handlers import BEGUN, BEGUN_CALLING, call_of


async def application(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
    """Route what is ours, and leave the rest to the web process."""
    match scope.get("path", "").split("/"):
        case ["", "begin" | "commit" as action, kind]:
            status, body = await _begin(kind, starts=action == "begin")
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": body.encode()})
        case _:
            await web_application(scope, receive, send)


async def _begin(kind: str, *, starts: bool) -> tuple[int, str]:
    executor = get_job_executor()
    try:
        await admit()
        job = await in_thread(_commit, kind, await executor.admit())
    except DomainError as refusal:
        return refusal.status, refusal.code
    if starts:
        executor.start(job, BEGUN[kind].run)
    return 201, str(job.id)


@transaction.atomic
def _commit(kind: str, owner_id: UUID) -> RunningJob:
    alice, job_id = new_user("alice", plan="max", balance_usd=5), uuid7()
    if kind == BEGUN_CALLING:
        call = call_of(get_catalog(), job_id, alice.pk, held_by=owner_id)
        hold(hold_request(call, owner_id))
    job = services.begin(job_id=job_id, kind=kind, account=alice, owner_id=owner_id)
    open_stream(stream_id=job_id, kind="tests", account=alice)
    return job
