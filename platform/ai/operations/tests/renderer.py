"""The wire of the simulator's provider of long-running operations, and a call of it."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

import msgspec
from msgspec import Struct

from ai.operations.types import OperationCall
from ai.providers.errors import ProviderError
from ai.providers.http_calls import HttpCall, answered, read_body
from ai.providers.operations import (
    Accepted,
    Cancelled,
    Failed,
    OperationState,
    Pending,
    Succeeded,
    Unknown,
)
from ai.providers.paid_calls import PaidCalls
from ai.providers.types import Deadlines
from ai.providers.whole_answers import read_answer
from billing.units import Units
from common.http import UpstreamClient

T = TypeVar("T")

NUSD_PER_SECOND = 20_000_000  # twice what the provider says it costs
POLL_SECONDS = 0.2
LIMIT = 1_000_000  # bytes


class RenderCall(OperationCall, frozen=True, kw_only=True):
    """So many seconds of a film. `can_cancel` is that of its wire."""

    kind = "render"

    prompt: str
    seconds: int
    can_cancel: bool = True

    @property
    def worst_cost(self) -> int:
        return self.seconds * NUSD_PER_SECOND

    @property
    def units(self) -> Units:
        return {"seconds": self.seconds}


class _Error(Struct):
    code: str
    message: str


class _Shown(Struct):
    id: str
    status: str
    url: str = ""
    cost_usd: Decimal | None = None
    error: _Error | None = None


_decode_shown = msgspec.json.Decoder(_Shown).decode


class RendererWire:
    """An `OperationWire` of RenderCalls."""

    def __init__(self, client: UpstreamClient, base_url: str, *, can_cancel: bool) -> None:
        self.can_cancel = can_cancel
        self._client = client
        self._url = f"{base_url}/operations"
        self._headers = {"Authorization": "Bearer simulated"}

    async def submit(self, order: RenderCall, reference: str, *, seconds: float) -> Accepted:
        body = {"prompt": order.prompt, "seconds": order.seconds, "reference": reference}
        calls = PaidCalls(self._client, Deadlines(total=seconds))
        call = HttpCall(self._url, self._headers, msgspec.json.encode(body))
        shown = await calls.post(call, _decode_shown, limit=LIMIT)
        return Accepted(shown.id, POLL_SECONDS)

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        try:
            shown = await self._get(f"{self._url}/{operation_id}", _decode_shown, seconds)
        except ProviderError as error:
            if error.status == 404:
                return Unknown()
            raise
        match shown.status:
            case "running":
                return Pending(poll_after=POLL_SECONDS)
            case "succeeded":
                cost = None if shown.cost_usd is None else int(shown.cost_usd * 10**9)
                return Succeeded((shown.url,), cost)
            case "cancelled":
                return Cancelled()
        fault = shown.error or _Error("", "")
        return Failed(fault.message, (fault.code,), blocked=fault.code == "moderation_blocked")

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        call = HttpCall(f"{self._url}/{operation_id}/cancel", self._headers, b"{}")
        by = asyncio.get_running_loop().time() + seconds
        sending = self._client.post(call.url, call.headers, call.body, connect_timeout=5.0)
        response = await answered(sending, by)
        try:
            await read_body(response, LIMIT, by)
        finally:
            response.close()

    async def file(self, url: str, *, seconds: float) -> bytes | Unknown:
        try:
            return await self._get(url, bytes, seconds)
        except ProviderError as error:
            if error.status == 404:
                return Unknown()
            raise

    async def _get(self, url: str, decoder: Callable[[bytes], T], seconds: float) -> T:
        by = asyncio.get_running_loop().time() + seconds
        response = await answered(self._client.get(url, self._headers, connect_timeout=5.0), by)
        try:
            return read_answer(decoder, await read_body(response, LIMIT, by))
        finally:
            response.close()
