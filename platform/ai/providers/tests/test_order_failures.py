"""How every wire of videos and 3D models fails, whatever its words: never paid for twice, always in
time, and with no result that is not the provider's own."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from ai.providers.config import SIMULATED_KEY, ProviderConfig
from ai.providers.errors import (
    ProviderError,
    ProviderUnavailable,
    RequestRefused,
    ResultTooLong,
    UpstreamError,
)
from ai.providers.luma import Luma
from ai.providers.media import AssetOrder, MediaWire, VideoOrder
from ai.providers.meshy import Meshy
from ai.providers.operations import Pending
from ai.providers.runway import Runway
from ai.providers.tripo import Tripo
from ai.providers.veo import Veo
from common.http import UpstreamClient
from common.tests.upstream import JSON, Answer, Upstream

from .media import answer
from .studio import read

VIDEO = VideoOrder(
    model="some-model", prompt="A fox", seconds=5, aspect_ratio="16:9", resolution="720p"
)
ASSET = AssetOrder(model="some-model", prompt="A fox", stage="preview")
NAME = "projects/p/locations/l/publishers/google/models/m/operations/1"
IDS = {Veo: NAME, Runway: "1", Luma: "1", Meshy: "v2/text-to-3d/1", Tripo: "1"}
# What each of them answers in a state that we do not know.
NEW_STATES = {
    Veo: {"name": NAME, "metadata": {}},
    Runway: {"id": "1", "status": "PAUSED"},
    Luma: {"id": "1", "state": "paused"},
    Meshy: {"id": "1", "status": "PAUSED"},
    Tripo: {"code": 0, "data": {"task_id": "1", "status": "paused"}},
}
# A success that names no result.
EMPTY = {
    Veo: {"name": NAME, "done": True, "response": {}},
    Runway: {"id": "1", "status": "SUCCEEDED", "output": []},
    Luma: {"id": "1", "state": "completed", "assets": None},
    Meshy: {"id": "1", "status": "SUCCEEDED", "model_urls": {}},
    Tripo: {"code": 0, "data": {"task_id": "1", "status": "success", "output": {}}},
}

Wire = MediaWire[Any]
MakeWire = Callable[[ProviderConfig, UpstreamClient], Wire]


@pytest.fixture(params=IDS)
def make(request: pytest.FixtureRequest) -> MakeWire:
    made: MakeWire = request.param
    return made


@pytest.fixture
def wire(make: MakeWire, upstream: Upstream, client: UpstreamClient) -> Wire:
    config = ProviderConfig(
        "any", None, upstream.url, SIMULATED_KEY, storage_url=f"{upstream.url}/files"
    )
    return make(config, client)


async def failure_of(wire: Wire, seconds: float = 5.0) -> ProviderError:
    """How an order fails."""
    order = ASSET if isinstance(wire, Meshy | Tripo) else VIDEO
    try:
        await wire.submit(order, "our-reference", seconds=seconds)
    except ProviderError as failure:
        return failure
    raise AssertionError("The order did not fail.")


async def poll(wire: Wire, seconds: float = 5.0) -> object:
    return await wire.poll(IDS[type(wire)], seconds=seconds)


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(429, True), (503, True), (302, False), (408, False), (500, False), (502, False)],
)
async def test_only_an_order_that_was_turned_away_may_be_placed_again(
    upstream: Upstream, wire: Wire, status: int, retryable: bool
) -> None:
    upstream.answer = answer({"error": {"message": "busy"}}, status)
    upstream.answer.headers["Retry-After"] = "3"
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable is retryable
    assert failure.retry_after == 3.0
    assert len(upstream.calls) == 1


async def test_nobody_listening_may_be_tried_again(upstream: Upstream, wire: Wire) -> None:
    upstream._server.close()
    await upstream._server.wait_closed()
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable


@pytest.mark.parametrize("broken", [Answer(ending="broken"), Answer([b"{"], ending="broken")])
async def test_a_connection_that_breaks_after_the_order_may_not(
    upstream: Upstream, wire: Wire, broken: Answer
) -> None:
    upstream.answer = broken
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    assert len(upstream.calls) == 1


async def test_an_order_goes_over_a_connection_of_its_own(upstream: Upstream, wire: Wire) -> None:
    upstream.answer = answer({})
    for _ in range(3):
        await failure_of(wire)
    assert upstream.connections == len(upstream.calls) == 3


@pytest.mark.parametrize("status", [402, 403, 404])
async def test_a_provider_that_does_not_serve_us_is_unavailable(
    upstream: Upstream, wire: Wire, status: int
) -> None:
    upstream.answer = answer({"error": {"message": "No"}}, status)
    assert isinstance(await failure_of(wire), ProviderUnavailable)


async def test_a_key_that_is_refused_is_our_fault(upstream: Upstream, wire: Wire) -> None:
    upstream.answer = answer({"message": "No"}, 401)
    failure = await failure_of(wire)
    assert isinstance(failure, ProviderUnavailable)
    assert failure.fault == "key"


@pytest.mark.parametrize(
    "document",
    [
        {"error": {"message": "Invalid prompt.", "code": 400, "status": "INVALID_ARGUMENT"}},
        {"error": "Invalid prompt."},
        {"detail": "Invalid prompt."},
        {"message": "Invalid prompt."},
        {"code": 1004, "message": "Invalid prompt.", "suggestion": "Try another."},
    ],
)
async def test_what_the_customer_can_mend_is_refused(
    upstream: Upstream, wire: Wire, document: object
) -> None:
    upstream.answer = answer(document, 400)
    failure = await failure_of(wire)
    assert isinstance(failure, RequestRefused)
    assert str(failure) == "Invalid prompt."


@pytest.mark.parametrize(
    ("status", "document"),
    [
        (400, {"error": "You do not have enough credits to run this task."}),
        (403, {"code": 2010, "message": "You don't have enough credit to create this task"}),
        (402, {"detail": "Insufficient credits"}),
    ],
)
async def test_credits_that_are_used_up_are_our_fault(
    upstream: Upstream, wire: Wire, status: int, document: object
) -> None:
    upstream.answer = answer(document, status)
    failure = await failure_of(wire)
    assert isinstance(failure, ProviderUnavailable)
    assert failure.fault == "quota"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"[]",
        b'{"id":"","name":"","result":"","data":{"task_id":""}}',
        b'{"id":"../x","name":"projects/../x","result":"../x","data":{"task_id":"../x"}}',
        b'{"id":7,"name":7,"result":7,"data":7}',
        b"[" * 100_000,
        b"x" * 10_000_000,
    ],
)
async def test_junk_is_a_failure_that_is_not_tried_again(
    upstream: Upstream, wire: Wire, body: bytes
) -> None:
    upstream.answer = Answer([body], content_type=JSON)
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable


@pytest.mark.parametrize(
    "prepared",
    [
        Answer(delay=30.0),
        Answer([b"{"], content_type=JSON, ending="hanging"),
        Answer([b" ", 0.1] * 100, content_type=JSON),
    ],
)
async def test_a_provider_that_hangs_or_drips_is_left_in_time(
    upstream: Upstream, wire: Wire, prepared: Answer
) -> None:
    upstream.answer = prepared
    started = time.monotonic()
    failure = await failure_of(wire, seconds=0.3)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    with pytest.raises(UpstreamError):
        await poll(wire, seconds=0.3)
    assert time.monotonic() - started < 3.0


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'{"status":7,"state":7,"done":7}', b"x" * 10_000_000]
)
async def test_junk_says_nothing_of_an_operation(
    upstream: Upstream, wire: Wire, body: bytes
) -> None:
    upstream.answer = Answer([body], content_type=JSON)
    with pytest.raises(UpstreamError):
        await poll(wire)


async def test_a_state_that_is_new_to_us_goes_on(upstream: Upstream, wire: Wire) -> None:
    upstream.answer = answer(NEW_STATES[type(wire)])
    assert isinstance(await poll(wire), Pending)


async def test_a_success_without_a_result_may_be_asked_again(
    upstream: Upstream, wire: Wire
) -> None:
    upstream.answer = answer(EMPTY[type(wire)])
    with pytest.raises(UpstreamError, match="no result"):
        await poll(wire)


async def test_a_result_without_a_length_is_read_up_to_the_limit(
    upstream: Upstream, wire: Wire
) -> None:
    upstream.answer = Answer([b"x" * 1_000] * 3, content_type="video/mp4")
    url = result_url(wire, upstream)
    assert len(await read(wire, url, limit=3_000)) == 3_000
    with pytest.raises(ResultTooLong):
        await read(wire, url, limit=2_999)


async def test_a_result_that_drips_is_left_in_time(upstream: Upstream, wire: Wire) -> None:
    upstream.answer = Answer([b"x", 0.1] * 100, content_type="video/mp4")
    with pytest.raises(UpstreamError, match="in time"):
        await read(wire, result_url(wire, upstream), seconds=0.3)


async def test_who_stops_reading_a_result_leaves_the_provider(
    upstream: Upstream, wire: Wire
) -> None:
    upstream.answer = Answer([b"x"], content_type="video/mp4", ending="hanging")
    pieces = wire.download(result_url(wire, upstream), limit=10, seconds=30.0)
    assert await anext(pieces) == b"x"
    await pieces.aclose()
    await upstream.left.wait()


async def test_a_signed_address_gets_no_key(upstream: Upstream, wire: Wire) -> None:
    upstream.answer = Answer([b"x"], content_type="video/mp4")
    await read(wire, result_url(wire, upstream))
    (call,) = upstream.calls
    assert ("authorization" in call.headers) == isinstance(wire, Veo)


def result_url(wire: Wire, upstream: Upstream) -> str:
    if isinstance(wire, Veo):
        return "gs://simulated-veo/ours/sample_0.mp4"
    return f"{upstream.url}/files/1?Expires=1&Signature=a%2Bb"
