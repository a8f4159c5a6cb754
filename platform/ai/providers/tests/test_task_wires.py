"""What goes out to Runway, Luma, Meshy and Tripo, and what their answers mean."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from ai.providers.config import ProviderConfig
from ai.providers.errors import UpstreamError
from ai.providers.luma import Luma
from ai.providers.media import AssetOrder, MediaWire, Picture, VideoOrder
from ai.providers.meshy import Meshy
from ai.providers.operations import Accepted, Cancelled, Failed, Pending, Succeeded
from ai.providers.runway import Runway
from ai.providers.tripo import Tripo
from common.http import UpstreamClient
from common.tests.upstream import Answer, Call, Upstream

from .media import PNG, answer, base64_of

VIDEO = VideoOrder(
    model="some-model", prompt="A fox", seconds=5, aspect_ratio="16:9", resolution="720p"
)
ASSET = AssetOrder(model="some-model", prompt="A fox", stage="preview")
PICTURE = Picture(PNG, "image/png")
URI = f"data:image/png;base64,{base64_of(PNG)}"

Wire = MediaWire[Any]
Make = Callable[[Callable[[ProviderConfig, UpstreamClient], Wire]], Wire]


@pytest.fixture
def make(upstream: Upstream, client: UpstreamClient) -> Make:
    config = ProviderConfig("any", None, upstream.url, "key-of-the-platform")
    return lambda made: made(config, client)


async def test_runway_is_asked_in_its_own_words(upstream: Upstream, make: Make) -> None:
    upstream.answer = answer({"id": "task-1", "estimatedCost": {"credits": 60}})
    assert await make(Runway).submit(VIDEO, "ours", seconds=5) == Accepted("task-1", 5.0)
    (call,) = upstream.calls
    assert (call.method, call.path) == ("POST", "/v1/text_to_video")
    assert call.headers["authorization"] == "Bearer key-of-the-platform"
    assert call.headers["x-runway-version"] == "2024-11-06"
    assert call.json == {
        "model": "some-model",
        "promptText": "A fox",
        "ratio": "1280:720",
        "duration": 5,
    }


@pytest.mark.parametrize(
    ("aspect_ratio", "ratio"),
    [
        ("16:9", "1280:720"),
        ("9:16", "720:1280"),
        ("4:3", "1104:832"),
        ("3:4", "832:1104"),
        ("1:1", "960:960"),
        ("21:9", "1584:672"),
    ],
)
async def test_runway_s_first_frame_is_a_picture(
    upstream: Upstream, make: Make, aspect_ratio: str, ratio: str
) -> None:
    upstream.answer = answer({"id": "task-1"})
    order = replace(VIDEO, start=PICTURE, seed=0, aspect_ratio=aspect_ratio, audio=False)
    await make(Runway).submit(order, "ours", seconds=5)
    (call,) = upstream.calls
    assert call.path == "/v1/image_to_video"
    assert call.json["promptImage"] == [{"uri": URI, "position": "first"}]
    assert (call.json["seed"], call.json["ratio"]) == (0, ratio)


@pytest.mark.parametrize(
    ("task", "state"),
    [
        ({"status": "PENDING"}, Pending(None, 5.0)),
        ({"status": "THROTTLED"}, Pending(None, 5.0)),
        ({"status": "RUNNING", "progress": 0.25}, Pending(0.25, 5.0)),
        ({"status": "RUNNING", "progress": 1.01}, Pending(1.0, 5.0)),
        ({"status": "RUNNING", "progress": -1}, Pending(0.0, 5.0)),
        ({"status": "CANCELLED"}, Cancelled()),
        ({"status": "SUCCEEDED", "output": ["u"]}, Succeeded(("u",))),
        (
            {"status": "SUCCEEDED", "output": ["u", "v"], "cost": {"credits": 60}},
            Succeeded(("u",), 600_000_000),
        ),
        ({"status": "SUCCEEDED", "output": ["u"], "cost": "much"}, Succeeded(("u",))),
        (
            {"status": "FAILED", "failure": "No.", "failureCode": "SAFETY.INPUT.TEXT"},
            Failed("No.", ("SAFETY.INPUT.TEXT",), blocked=True),
        ),
        (
            {"status": "FAILED", "failure": "Bad key_secret123ABC", "failureCode": "INTERNAL"},
            Failed("Bad key_[redacted]", ("INTERNAL",)),
        ),
        ({"status": "FAILED"}, Failed("The provider failed.")),
    ],
)
async def test_a_task_of_runway_s(
    upstream: Upstream, make: Make, task: dict[str, object], state: object
) -> None:
    upstream.answer = answer({"id": "1"} | task)
    assert await make(Runway).poll("1", seconds=5) == state
    (call,) = upstream.calls
    assert (call.method, call.path) == ("GET", "/v1/tasks/1")


async def test_luma_is_asked_in_its_own_words(upstream: Upstream, make: Make) -> None:
    upstream.answer = answer({"id": "generation-1", "state": "queued"}, 201)
    assert await make(Luma).submit(VIDEO, "ours", seconds=5) == Accepted("generation-1")
    (call,) = upstream.calls
    assert (call.method, call.path) == ("POST", "/v1/generations/video")
    assert call.headers["authorization"] == "Bearer key-of-the-platform"
    assert call.json == {
        "model": "some-model",
        "prompt": "A fox",
        "aspect_ratio": "16:9",
        "resolution": "720p",
        "duration": "5s",
    }


async def test_luma_s_extension_names_a_generation(upstream: Upstream, make: Make) -> None:
    upstream.answer = answer({"id": "generation-2"})
    await make(Luma).submit(replace(VIDEO, extends="generation-1"), "ours", seconds=5)
    first = {"type": "generation", "id": "generation-1"}
    assert upstream.calls[0].json["keyframes"] == {"frame0": first}


@pytest.mark.parametrize(
    ("generation", "state"),
    [
        ({"state": "queued"}, Pending()),
        ({"state": "dreaming", "assets": {}}, Pending()),
        (
            {"state": "completed", "assets": {"video": "u"}, "request": {"duration": "9s"}},
            Succeeded(("u",), reference="1", seconds=9.0),
        ),
        (
            {"state": "completed", "assets": {"video": "u"}, "request": {"duration": "long"}},
            Succeeded(("u",), reference="1"),
        ),
        (
            {"state": "failed", "failure_reason": "400: advanced moderation failed"},
            Failed("400: advanced moderation failed", blocked=True),
        ),
        ({"state": "failed", "failure_reason": "500: Oh no"}, Failed("500: Oh no")),
    ],
)
async def test_a_generation_of_luma_s(
    upstream: Upstream, make: Make, generation: dict[str, object], state: object
) -> None:
    upstream.answer = answer({"id": "1"} | generation)
    assert await make(Luma).poll("1", seconds=5) == state
    (call,) = upstream.calls
    assert (call.method, call.path) == ("GET", "/v1/generations/1")


@pytest.mark.parametrize(
    ("order", "path", "body"),
    [
        (ASSET, "v2/text-to-3d", {"mode": "preview", "prompt": "A fox"}),
        (
            AssetOrder(model="some-model", stage="refine", refines="1", prompt="red"),
            "v2/text-to-3d",
            {
                "mode": "refine",
                "preview_task_id": "1",
                "enable_pbr": True,
                "texture_prompt": "red",
            },
        ),
        (
            AssetOrder(model="some-model", stage="image", picture=PICTURE, texture=False),
            "v1/image-to-3d",
            {"image_url": URI, "should_texture": False, "enable_pbr": False},
        ),
    ],
)
async def test_meshy_is_asked_in_its_own_words(
    upstream: Upstream, make: Make, order: AssetOrder, path: str, body: dict[str, object]
) -> None:
    upstream.answer = answer({"result": "task-1"}, 202)
    wire = make(Meshy)
    accepted = await wire.submit(order, "ours", seconds=5)
    assert accepted == Accepted(f"{path}/task-1")
    (call,) = upstream.calls
    assert (call.method, call.path) == ("POST", f"/v1/{path}")
    assert call.json == {"ai_model": "some-model", "moderation": True} | body
    upstream.answer = answer({"id": "task-1", "status": "PENDING"})
    await wire.poll(accepted.id, seconds=5)
    assert upstream.calls[1].path == f"/v1/{path}/task-1"


@pytest.mark.parametrize(
    ("task", "state"),
    [
        ({"status": "PENDING", "progress": 0}, Pending(0.0)),
        ({"status": "IN_PROGRESS", "progress": 50}, Pending(0.5)),
        ({"status": "IN_PROGRESS", "progress": 101}, Pending(1.0)),
        ({"status": "CANCELED"}, Cancelled()),
        (
            {"status": "SUCCEEDED", "model_urls": {"glb": "u", "fbx": "v"}, "thumbnail_url": "p"},
            Succeeded(("u", "p"), reference="1"),
        ),
        (
            {"status": "SUCCEEDED", "model_urls": {"glb": "u"}, "consumed_credits": 20},
            Succeeded(("u",), 400_000_000, "1"),
        ),
        (
            {"status": "FAILED", "task_error": {"message": "Blocked by content moderation."}},
            Failed("Blocked by content moderation.", blocked=True),
        ),
        ({"status": "FAILED"}, Failed("The provider failed.")),
    ],
)
async def test_a_task_of_meshy_s(
    upstream: Upstream, make: Make, task: dict[str, object], state: object
) -> None:
    upstream.answer = answer({"id": "1"} | task)
    assert await make(Meshy).poll("v2/text-to-3d/1", seconds=5) == state


@pytest.mark.parametrize(
    ("order", "body"),
    [
        (
            replace(ASSET, negative_prompt="a wolf", seed=0),
            {
                "type": "text_to_model",
                "prompt": "A fox",
                "negative_prompt": "a wolf",
                "texture": True,
                "pbr": True,
                "texture_seed": 0,
                "model_seed": 0,
            },
        ),
        (
            replace(ASSET, texture=False),
            {"type": "text_to_model", "prompt": "A fox", "texture": False, "pbr": False},
        ),
        (
            AssetOrder(model="some-model", stage="refine", refines="1", prompt="red", seed=1),
            {
                "type": "texture_model",
                "original_model_task_id": "1",
                "texture_prompt": {"text": "red"},
                "texture": True,
                "pbr": True,
                "texture_seed": 1,
            },
        ),
    ],
)
async def test_tripo_is_asked_in_its_own_words(
    upstream: Upstream, make: Make, order: AssetOrder, body: dict[str, object]
) -> None:
    upstream.answer = answer({"code": 0, "data": {"task_id": "task-1"}})
    assert await make(Tripo).submit(order, "ours", seconds=5) == Accepted("task-1")
    (call,) = upstream.calls
    assert (call.method, call.path) == ("POST", "/v1/task")
    assert call.json == {"model_version": "some-model"} | body


async def test_tripo_s_picture_is_uploaded_first(upstream: Upstream, make: Make) -> None:
    upstream.answer = lambda call: answer(
        {"code": 0, "data": {"image_token": "a-token", "task_id": "task-1"}}
    )
    order = AssetOrder(model="some-model", stage="image", picture=PICTURE)
    await make(Tripo).submit(order, "ours", seconds=5)
    upload, task = upstream.calls
    assert upload.path == "/v1/upload/sts"
    assert upload.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert PNG in upload.body
    assert task.json["file"] == {"type": "png", "file_token": "a-token"}


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_upload_that_fails_begins_nothing(
    upstream: Upstream, make: Make, status: int
) -> None:
    upstream.answer = answer({"code": 1000, "message": "Oh no", "suggestion": "Wait."}, status)
    order = AssetOrder(model="some-model", stage="image", picture=PICTURE)
    with pytest.raises(UpstreamError) as failure:
        await make(Tripo).submit(order, "ours", seconds=5)
    assert failure.value.retryable
    assert len(upstream.calls) == 1


@pytest.mark.parametrize(
    ("task", "state"),
    [
        ({"status": "queued", "progress": 0, "queuing_num": 1}, Pending(0.0)),
        ({"status": "running", "progress": 50}, Pending(0.5)),
        (
            {"status": "success", "output": {"pbr_model": "u", "model": "v"}},
            Succeeded(("u",), reference="1"),
        ),
        (
            {
                "status": "success",
                "output": {"base_model": "u", "rendered_image": "p"},
                "consumed_credit": 30,
            },
            Succeeded(("u", "p"), 300_000_000, "1"),
        ),
        (
            {"status": "banned", "error_code": 2008, "error_msg": "No."},
            Failed("No.", ("2008",), blocked=True),
        ),
        ({"status": "expired"}, Failed("The provider failed.")),
    ],
)
async def test_a_task_of_tripo_s(
    upstream: Upstream, make: Make, task: dict[str, object], state: object
) -> None:
    upstream.answer = answer({"code": 0, "data": {"task_id": "1"} | task})
    assert await make(Tripo).poll("1", seconds=5) == state


@pytest.mark.parametrize(
    ("made", "name", "path", "running"),
    [
        (Runway, "1", "/v1/tasks/1", {"status": "RUNNING"}),
        (Luma, "1", "/v1/generations/1", {"id": "1", "state": "dreaming"}),
        (
            Meshy,
            "v1/image-to-3d/1",
            "/v1/v1/image-to-3d/1",
            {"id": "1", "status": "IN_PROGRESS"},
        ),
    ],
)
async def test_what_runs_is_deleted(
    upstream: Upstream,
    make: Make,
    made: Callable[[ProviderConfig, UpstreamClient], Wire],
    name: str,
    path: str,
    running: dict[str, object],
) -> None:
    def provider(call: Call) -> Answer:
        return answer({} if call.method == "DELETE" else running)

    upstream.answer = provider
    await make(made).cancel(name, seconds=5)
    calls = [(call.method, call.path) for call in upstream.calls]
    assert calls == [("GET", path), ("DELETE", path)]
