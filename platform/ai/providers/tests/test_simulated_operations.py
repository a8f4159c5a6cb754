"""Every wire of videos and 3D models against the simulator, which knows none of our code: what they
have in common, from the order to the bytes of the result."""

from typing import Any
from uuid import uuid4

import pytest

from ai.providers.errors import ProviderError, ResultExpired, ResultTooLong, UpstreamError
from ai.providers.operations import Cancelled, Failed, Pending, Succeeded, Unknown

from .studio import ASSETS, LIMIT, SECONDS, VIDEOS, Studio, read

every_provider = pytest.mark.parametrize("provider", [*VIDEOS, *ASSETS])
# Veo's results are in a bucket, and not at signed URLs.
with_signed_urls = pytest.mark.parametrize("provider", ["runway", "luma", *ASSETS])
# Runway and Tripo show a task that was refused as one that failed, Meshy does not begin it.
begins_what_is_refused = pytest.mark.parametrize("provider", VIDEOS)


@every_provider
async def test_an_order_becomes_a_file(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    result = await studio.made(wire, studio.order(provider))
    data = await read(wire, result.urls[0])
    assert data[4:8] == b"ftyp" if provider in VIDEOS else data.startswith(b"glTF")
    (call,) = studio.calls()
    assert (call["outcome"], call["files_emitted"]) == ("completed", 1)


@every_provider
async def test_an_operation_waits_and_runs_before_it_ends(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    begun = await studio.begin(wire, studio.order(provider, queue=1, polls=2))
    states = [await wire.poll(begun.id, seconds=SECONDS) for _ in range(3)]
    assert [type(state) for state in states] == [Pending, Pending, Succeeded]


@pytest.mark.parametrize("provider", ["runway", *ASSETS])
async def test_progress_is_told_by_who_knows_it(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    begun = await studio.begin(wire, studio.order(provider, polls=2))
    state = await wire.poll(begun.id, seconds=SECONDS)
    assert isinstance(state, Pending)
    assert state.progress == pytest.approx(0.5)


@every_provider
async def test_what_fails_at_the_provider_has_failed(studio: Studio, provider: str) -> None:
    state = await studio.end(studio.wire(provider), studio.order(provider, finish="failed"))
    assert isinstance(state, Failed)
    assert state.message
    assert not state.blocked


@every_provider
async def test_a_result_that_moderation_withholds_is_blocked(studio: Studio, provider: str) -> None:
    state = await studio.end(studio.wire(provider), studio.order(provider, blocked=True))
    assert isinstance(state, Failed)
    assert state.blocked


@begins_what_is_refused
async def test_a_prompt_that_moderation_refuses_is_blocked(studio: Studio, provider: str) -> None:
    state = await studio.end(studio.wire(provider), studio.order(provider, refusal=True))
    assert isinstance(state, Failed)
    assert state.blocked


@every_provider
@pytest.mark.parametrize(
    ("options", "retryable"),
    [
        ({"status": 503}, True),
        ({"status": 429, "retry_after": 2}, True),
        ({"status": 500}, False),
        ({"drop": True}, False),
        ({"bad_json": True}, False),
        ({"truncate": True}, False),
    ],
)
async def test_an_order_may_be_repeated_only_where_nothing_was_begun(
    studio: Studio, provider: str, options: dict[str, Any], retryable: bool
) -> None:
    with pytest.raises(UpstreamError) as failure:
        await studio.begin(studio.wire(provider), studio.order(provider, **options))
    assert failure.value.retryable is retryable
    assert len(studio.calls()) == 1


@every_provider
async def test_a_poll_that_fails_says_nothing_of_the_operation(
    studio: Studio, provider: str
) -> None:
    wire = studio.wire(provider)
    order = studio.order(provider, status=500, at=["poll"], times=1)
    begun = await studio.begin(wire, order)
    with pytest.raises(UpstreamError):
        await wire.poll(begun.id, seconds=SECONDS)
    assert isinstance(await wire.poll(begun.id, seconds=SECONDS), Succeeded)


@every_provider
async def test_an_operation_can_be_unknown_for_a_while(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    begun = await studio.begin(wire, studio.order(provider, missing=True, at=["poll"], times=1))
    assert await wire.poll(begun.id, seconds=SECONDS) == Unknown()
    assert isinstance(await wire.poll(begun.id, seconds=SECONDS), Succeeded)


@pytest.mark.parametrize("provider", ["vertex", "runway", "luma", "meshy"])
async def test_a_running_operation_is_cancelled(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    assert wire.can_cancel
    begun = await studio.begin(wire, studio.order(provider, polls=100))
    await wire.cancel(begun.id, seconds=SECONDS)
    state = await wire.poll(begun.id, seconds=SECONDS)
    # Luma forgets what is deleted.
    assert state == (Unknown() if provider == "luma" else Cancelled())
    assert studio.calls()[0]["outcome"] == "cancelled"


async def test_tripo_cancels_nothing(studio: Studio) -> None:
    wire = studio.wire("tripo")
    assert not wire.can_cancel
    begun = await studio.begin(wire, studio.order("tripo", polls=100))
    await wire.cancel(begun.id, seconds=SECONDS)
    assert isinstance(await wire.poll(begun.id, seconds=SECONDS), Pending)


@every_provider
async def test_a_cancellation_leaves_a_result_that_is_there(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    begun = await studio.begin(wire, studio.order(provider))
    result = await wire.poll(begun.id, seconds=SECONDS)
    await wire.cancel(begun.id, seconds=SECONDS)
    again = await wire.poll(begun.id, seconds=SECONDS)
    assert isinstance(result, Succeeded)
    assert isinstance(again, Succeeded)
    assert await read(wire, again.urls[0])


@every_provider
async def test_an_operation_that_nobody_knows_is_not_cancelled(
    studio: Studio, provider: str
) -> None:
    wire = studio.wire(provider)
    begun = await studio.begin(wire, studio.order(provider))
    nobody_s = begun.id.replace(begun.id[-36:], str(uuid4()))
    await wire.cancel(nobody_s, seconds=SECONDS)
    assert await wire.poll(nobody_s, seconds=SECONDS) == Unknown()


@every_provider
@pytest.mark.parametrize("fault", ["empty", "other_type"])
async def test_bytes_come_as_the_provider_sends_them(
    studio: Studio, provider: str, fault: str
) -> None:
    wire = studio.wire(provider)
    result = await studio.made(wire, studio.order(provider, result=fault))
    data = await read(wire, result.urls[0])
    assert data == b"" if fault == "empty" else data.startswith(b"<!doctype html>")


@every_provider
async def test_a_result_that_announces_too_much_is_not_read(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    result = await studio.made(wire, studio.order(provider, result="huge"))
    with pytest.raises(ResultTooLong):
        await read(wire, result.urls[0])


@every_provider
async def test_a_result_that_leads_elsewhere_is_not_followed(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    result = await studio.made(wire, studio.order(provider, result="redirect"))
    with pytest.raises(UpstreamError) as failure:
        await read(wire, result.urls[0])
    assert failure.value.status == 302


@with_signed_urls
async def test_an_address_that_has_ended_is_said(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    result = await studio.made(wire, studio.order(provider, result="expired", times=1))
    with pytest.raises(ResultExpired):
        await read(wire, result.urls[0])
    assert await read(wire, result.urls[0])


@every_provider
async def test_a_file_that_is_gone_has_expired(studio: Studio, provider: str) -> None:
    wire = studio.wire(provider)
    result = await studio.made(wire, studio.order(provider, missing=True, at=["file"]))
    with pytest.raises(ResultExpired):
        await read(wire, result.urls[0])


@every_provider
@pytest.mark.parametrize("fault", [{"truncate": True}, {"status": 500}])
async def test_a_file_that_breaks_off_is_a_failure_and_comes_again(
    studio: Studio, provider: str, fault: dict[str, Any]
) -> None:
    wire = studio.wire(provider)
    order = studio.order(provider, at=["file"], times=1, **fault)
    result = await studio.made(wire, order)
    with pytest.raises(UpstreamError):
        await read(wire, result.urls[0])
    assert len(await read(wire, result.urls[0])) < LIMIT


@every_provider
@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://evil.com/film.mp4",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "gs://somebody-elses/film.mp4",
    ],
)
async def test_a_foreign_address_is_not_called(studio: Studio, provider: str, url: str) -> None:
    with pytest.raises(ProviderError, match="named a place"):
        await read(studio.wire(provider), url)
