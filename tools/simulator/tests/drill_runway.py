"""Runway's videos, with its own client library."""

import io
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from PIL import Image
from runwayml import BadRequestError, NotFoundError, RunwayML

from simulator.tests import film
from simulator.tests.conftest import Caller


@pytest.fixture
def runway(caller: Caller) -> Iterator[RunwayML]:
    url = f"{caller.simulator.url}/runway"
    with RunwayML(api_key="alice", base_url=url, max_retries=0) as client:
        yield client


def begin(caller: Caller, runway: RunwayML, **options: object) -> str:
    created = runway.text_to_video.create(
        model="gen4.5", prompt_text=caller.prompt(**options), ratio="1280:720", duration=2
    )
    assert created.to_dict()["estimatedCost"] == {"credits": 24}
    return created.id


def test_a_video_is_made_of_a_text(caller: Caller, runway: RunwayML) -> None:
    task = runway.tasks.retrieve(begin(caller, runway))

    assert task.status == "SUCCEEDED"
    assert task.cost.credits == 24
    seen = film.watch(httpx.get(task.output[0]).content)
    assert seen.seconds == pytest.approx(2, abs=0.1)
    assert seen.images[0].size == (320, 180)
    entry = caller.entry()
    assert (entry["kind"], entry["outcome"], entry["model"]) == (
        "operations",
        "completed",
        "gen4.5",
    )
    assert (entry["seconds"], entry["files_emitted"]) == (2, 1)


def test_a_video_begins_with_a_picture(caller: Caller, runway: RunwayML) -> None:
    file = io.BytesIO()
    Image.new("RGB", (64, 64), (0, 255, 0)).save(file, "PNG")
    uri = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"

    created = runway.image_to_video.create(
        model="gen4.5",
        prompt_text=caller.prompt(),
        prompt_image=[{"uri": uri, "position": "first"}],
        ratio="960:960",
        duration=2,
    )

    task = runway.tasks.retrieve(created.id)
    assert task.status == "SUCCEEDED"
    first = film.watch(httpx.get(task.output[0]).content).images[0]
    red, green, _ = film.colour(first, (first.width - 8, 8))
    assert green > 200 > red
    assert caller.entry()["references"] == 1


def test_a_task_waits_and_runs_before_it_ends(caller: Caller, runway: RunwayML) -> None:
    task_id = begin(caller, runway, queue=1, polls=3)

    tasks = [runway.tasks.retrieve(task_id) for _ in range(4)]

    assert [task.status for task in tasks] == ["THROTTLED", "RUNNING", "RUNNING", "SUCCEEDED"]
    running = [task.progress for task in tasks if task.status == "RUNNING"]
    assert running == [pytest.approx(1 / 3), pytest.approx(2 / 3)]


@pytest.mark.parametrize(
    ("option", "code", "outcome"),
    [
        ({"blocked": True}, "SAFETY.OUTPUT.VIDEO", "blocked"),
        ({"refusal": True}, "SAFETY.INPUT.TEXT", "refusal"),
        ({"finish": "failed"}, "INTERNAL.BAD_OUTPUT.CODE01", "failed"),
        ({"finish": "failed", "code": "ASSET.INVALID"}, "ASSET.INVALID", "failed"),
    ],
)
def test_a_task_can_fail(
    caller: Caller, runway: RunwayML, option: dict[str, Any], code: str, outcome: str
) -> None:
    task = runway.tasks.retrieve(begin(caller, runway, **option))

    assert task.status == "FAILED"
    assert (task.failure_code, task.cost.credits) == (code, 0)
    assert caller.entry()["outcome"] == outcome


def test_a_running_task_is_cancelled(caller: Caller, runway: RunwayML) -> None:
    task_id = begin(caller, runway, polls=100)

    runway.tasks.delete(task_id)

    task = runway.tasks.retrieve(task_id)
    assert task.status == "CANCELLED"
    assert task.cost.credits == 0
    assert caller.entry()["outcome"] == "cancelled"


def test_an_ended_task_is_deleted_with_its_file(caller: Caller, runway: RunwayML) -> None:
    task_id = begin(caller, runway)
    ended = runway.tasks.retrieve(task_id)
    assert ended.status == "SUCCEEDED"

    runway.tasks.delete(task_id)

    deleted = runway.tasks.retrieve(task_id)
    assert deleted.status == "CANCELLED"
    assert deleted.cost.credits == 24
    assert httpx.get(ended.output[0]).status_code == 404


def test_a_task_can_be_steered_to_ignore_its_cancellation(caller: Caller, runway: RunwayML) -> None:
    task_id = begin(caller, runway, polls=2, finish="uncancellable")

    runway.tasks.delete(task_id)

    assert [runway.tasks.retrieve(task_id).status for _ in range(2)] == ["RUNNING", "SUCCEEDED"]


def test_an_unknown_task_is_a_404(runway: RunwayML) -> None:
    with pytest.raises(NotFoundError):
        runway.tasks.retrieve("17f20503-6c24-4c16-946b-35dbbce2af2f")


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt_text": ""},
        {"prompt_text": "x" * 1001},
        {"duration": 11},
        {"ratio": "16:9"},
        {"model": "gen3"},
        {"extra_body": {"audio": True}},
        {"extra_headers": {"X-Runway-Version": "2023-01-01"}},
    ],
)
def test_a_wrong_request_is_refused(runway: RunwayML, fields: dict[str, Any]) -> None:
    usual: Any = {"model": "gen4.5", "prompt_text": "A fox", "ratio": "1280:720", "duration": 5}

    with pytest.raises(BadRequestError):
        runway.text_to_video.create(**(usual | fields))


def test_the_version_and_a_key_are_required(caller: Caller) -> None:
    url = f"{caller.simulator.url}/runway/v1/tasks/any"

    assert httpx.get(url, headers={"authorization": "Bearer alice"}).status_code == 400
    assert httpx.get(url, headers={"X-Runway-Version": "2024-11-06"}).status_code == 401
