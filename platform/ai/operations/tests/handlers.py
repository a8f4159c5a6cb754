"""The handler of operations that only tests have. It writes to the stream that has the operation's
id."""

from typing import Any
from uuid import UUID

from django.conf import settings

from ai.catalog.selectors import aget_catalog
from ai.catalog.types import Catalog
from ai.inference.errors import error_of
from ai.operations.handler import OperationHandler
from ai.operations.tests.renderer import RenderCall, RendererWire
from ai.operations.types import End, Fetched, Unusable
from ai.providers.operations import Delivered, Succeeded, Unknown
from common.http import UpstreamClient
from events import services as events
from events.types import NewEvent
from media.files.services.outputs import store
from work.jobs.handlers import register
from work.jobs.running import RunningJob

RENDER = "tests.render"

_client = UpstreamClient()


class Renders(OperationHandler[RenderCall]):
    async def call_of(self, job: RunningJob, request: dict[str, Any]) -> RenderCall:
        return render_call(await aget_catalog(), job.account_id, **request)

    def wire_of(self, call: RenderCall) -> RendererWire:
        return RendererWire(
            _client,
            f"{settings.SIMULATOR_URL}/renderer/v1",
            can_cancel=call.can_cancel,
        )

    async def fetch(
        self, operation_id: UUID, call: RenderCall, result: Succeeded | Delivered
    ) -> Fetched | Unusable | Unknown:
        if isinstance(result, Delivered):
            raise TypeError("The renderer delivers nothing with its first answer.")
        data = await self.wire_of(call).file(result.urls[0], seconds=30)
        if isinstance(data, Unknown):
            return data
        if not data.startswith(b"\x89PNG"):
            return Unusable("The result is no picture.")
        name = await store(
            account_id=call.account_id, data=data, media_type="image/png", keep_seconds=60
        )
        return Fetched([name])

    def lock(self, operation_id: UUID) -> None:
        """There are no rows but the event stream."""

    def write_end(self, operation_id: UUID, end: End) -> None:
        error = end.failure and error_of(end.failure)
        data = {"status": end.status, "outputs": end.outputs, "error": error}
        events.append(stream_id=operation_id, events=[NewEvent("ended", data)])


def render_call(
    catalog: Catalog,
    account_id: UUID,
    *,
    prompt: str,
    seconds: int = 5,
    total_seconds: float = 600.0,
    submission_seconds: float = 60.0,
    can_cancel: bool = True,
) -> RenderCall:
    return RenderCall(
        account_id=account_id,
        api_key_id=None,
        source="job",
        model=catalog.models["kimi-k3"],  # no plan has an allowance for it
        request_id="req_test",
        total_seconds=total_seconds,
        submission_seconds=submission_seconds,
        prompt=prompt,
        seconds=seconds,
        can_cancel=can_cancel,
    )


def register_all() -> None:
    register(RENDER, Renders())
