"""Luma's Dream Machine, with its own client library."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from lumaai import APIStatusError, BadRequestError, LumaAI, NotFoundError
from lumaai.types import Generation

from simulator.tests import film
from simulator.tests.conftest import Caller


@pytest.fixture
def luma(caller: Caller) -> Iterator[LumaAI]:
    url = f"{caller.simulator.url}/luma/dream-machine/v1"
    with LumaAI(auth_token="alice", base_url=url, max_retries=0) as client:
        yield client


def begin(caller: Caller, luma: LumaAI, **options: object) -> str:
    created = luma.generations.create(model="ray-2", prompt=caller.prompt(**options))
    assert created.state == "queued"
    return created.id or ""


def watch(generation: Generation) -> film.Seen:
    assert generation.state == "completed"
    assert generation.assets is not None
    return film.watch(httpx.get(generation.assets.video or "").content)


def test_a_video_is_made_of_a_text(caller: Caller, luma: LumaAI) -> None:
    seen = watch(luma.generations.get(begin(caller, luma)))

    assert seen.seconds == pytest.approx(5, abs=0.1)
    entry = caller.entry()
    assert (entry["outcome"], entry["seconds"], entry["size"]) == ("completed", 5, "720p")
    assert entry["files_emitted"] == 1


def test_the_path_for_videos_does_the_same(caller: Caller, luma: LumaAI) -> None:
    created = luma.generations.video.create(
        model="ray-2", prompt=caller.prompt(), duration="9s", aspect_ratio="9:16"
    )

    seen = watch(luma.generations.get(created.id or ""))

    assert seen.seconds == pytest.approx(9, abs=0.1)
    assert seen.images[0].size == (180, 320)


def test_a_generation_waits_and_dreams_before_it_ends(caller: Caller, luma: LumaAI) -> None:
    generation_id = begin(caller, luma, queue=2, polls=2)

    states = [luma.generations.get(generation_id).state for _ in range(4)]

    assert states == ["queued", "queued", "dreaming", "completed"]


def test_an_extension_begins_where_the_clip_ends(caller: Caller, luma: LumaAI) -> None:
    source = begin(caller, luma)
    before = watch(luma.generations.get(source))

    extension = luma.generations.create(
        model="ray-2",
        prompt="Then it sleeps",
        keyframes={"frame0": {"type": "generation", "id": source}},
    )

    seen = watch(luma.generations.get(extension.id or ""))
    assert seen.clock[0] == pytest.approx(before.clock[-1], abs=0.11)
    assert seen.clock[-1] == pytest.approx(10, abs=0.11)
    assert seen.images[0].size == before.images[0].size


def test_only_a_completed_generation_is_extended(caller: Caller, luma: LumaAI) -> None:
    source = begin(caller, luma, polls=100)
    keyframes: Any = {"frame0": {"type": "generation", "id": source}}

    with pytest.raises(BadRequestError):
        luma.generations.create(model="ray-2", prompt="And then", keyframes=keyframes)


def test_a_video_begins_with_a_picture_of_a_url(caller: Caller, luma: LumaAI) -> None:
    made = caller.http.post(
        caller.simulator.base_url("xai") + "/images/generations",
        json={"model": "grok-imagine-image", "prompt": "A fox"},
    ).json()
    keyframes: Any = {"frame0": {"type": "image", "url": made["data"][0]["url"]}}

    created = luma.generations.create(model="ray-2", prompt=caller.prompt(), keyframes=keyframes)

    assert watch(luma.generations.get(created.id or "")).seconds == pytest.approx(5, abs=0.1)
    assert caller.entry()["references"] == 1


@pytest.mark.parametrize(
    ("option", "reason", "outcome"),
    [
        ({"blocked": True}, "moderation", "blocked"),
        ({"refusal": True}, "moderation", "refusal"),
        ({"finish": "failed"}, "has failed", "failed"),
    ],
)
def test_a_generation_can_fail(
    caller: Caller, luma: LumaAI, option: dict[str, Any], reason: str, outcome: str
) -> None:
    generation = luma.generations.get(begin(caller, luma, **option))

    assert generation.state == "failed"
    assert reason in (generation.failure_reason or "")
    assert generation.assets is None
    assert caller.entry()["outcome"] == outcome


def test_a_deleted_generation_is_unknown(caller: Caller, luma: LumaAI) -> None:
    generation_id = begin(caller, luma, polls=100)

    luma.generations.delete(generation_id)

    with pytest.raises(NotFoundError):
        luma.generations.get(generation_id)
    assert caller.entry()["outcome"] == "cancelled"


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": "ab"},
        {"model": "ray-1"},
        {"duration": "6s"},
        {"resolution": "480p"},
        {"aspect_ratio": "2:1"},
        {"extra_body": {"seed": 1}},
        {"keyframes": {"frame0": {"type": "image", "url": "data:image/png;base64,AAAA"}}},
        {"keyframes": {"frame0": {"type": "image", "url": "https://example.com/fox.png"}}},
    ],
)
def test_a_wrong_request_is_refused(luma: LumaAI, fields: dict[str, Any]) -> None:
    usual = {"model": "ray-2", "prompt": "A fox"}

    with pytest.raises(APIStatusError) as refused:
        luma.generations.create(**(usual | fields))

    assert refused.value.status_code == 400
    assert "detail" in refused.value.response.json()
