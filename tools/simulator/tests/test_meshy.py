"""Meshy's 3D models: a preview, its refinement, and models of pictures."""

from base64 import b64encode
from typing import Any

import httpx
import pytest

from simulator.pictures import Picture
from simulator.tests import model3d, png
from simulator.tests.conftest import Caller

TEXT, IMAGE = "v2/text-to-3d", "v1/image-to-3d"
PICTURE = Picture("A fox", 64, 64, "seed").png()


def url_of(caller: Caller, path: str) -> str:
    return f"{caller.simulator.url}/meshy/openapi/{path}"


def submit(caller: Caller, path: str = TEXT, **fields: object) -> httpx.Response:
    return caller.http.post(url_of(caller, path), json=fields)


def preview(caller: Caller, **options: object) -> str:
    answer = submit(caller, mode="preview", ai_model="meshy-6", prompt=caller.prompt(**options))
    assert answer.status_code == 202
    return str(answer.json()["result"])


def poll(caller: Caller, task_id: str, path: str = TEXT) -> dict[str, Any]:
    answer = caller.http.get(url_of(caller, f"{path}/{task_id}"))
    assert answer.status_code == 200
    task: dict[str, Any] = answer.json()
    return task


def files(task: dict[str, Any]) -> model3d.Seen:
    """The model of a task that has succeeded; its thumbnail is read, too."""
    assert task["status"] == "SUCCEEDED"
    assert httpx.get(task["thumbnail_url"]).content.startswith(b"\x89PNG")
    return model3d.view(httpx.get(task["model_urls"]["glb"]).content)


def test_a_preview_has_no_texture_and_its_refinement_has(caller: Caller) -> None:
    first = poll(caller, preview(caller))
    assert files(first).texture is None
    assert (first["type"], first["consumed_credits"]) == ("text-to-3d-preview", 20)

    begun = submit(caller, mode="refine", preview_task_id=first["id"], texture_prompt="red")

    second = poll(caller, begun.json()["result"])
    assert files(second).texture is not None
    assert (second["type"], second["consumed_credits"]) == ("text-to-3d-refine", 10)
    entry = caller.entry()
    assert (entry["outcome"], entry["model"], entry["files_emitted"]) == (
        "completed",
        "meshy-6",
        2,
    )


def test_a_model_is_made_of_a_picture(caller: Caller) -> None:
    uri = f"data:image/png;base64,{b64encode(PICTURE).decode()}"

    begun = submit(caller, IMAGE, image_url=uri, texture_prompt=caller.prompt())

    task = poll(caller, begun.json()["result"], IMAGE)
    assert files(task).texture is not None
    assert task["consumed_credits"] == 30
    assert caller.entry()["references"] == 1


def test_a_task_waits_and_runs_before_it_ends(caller: Caller) -> None:
    task_id = preview(caller, queue=2, polls=2)

    tasks = [poll(caller, task_id) for _ in range(4)]

    assert [(task["status"], task["preceding_tasks"]) for task in tasks] == [
        ("PENDING", 2),
        ("PENDING", 1),
        ("IN_PROGRESS", 0),
        ("SUCCEEDED", 0),
    ]
    assert [task["progress"] for task in tasks] == [0, 0, 50, 100]


@pytest.mark.parametrize(("option", "word"), [({"blocked": True}, "moderation"), ({}, "failed")])
def test_a_task_can_fail(caller: Caller, option: dict[str, Any], word: str) -> None:
    task = poll(caller, preview(caller, **(option or {"finish": "failed"})))

    assert (task["status"], task["consumed_credits"], task["model_urls"]) == ("FAILED", 0, {})
    assert word in task["task_error"]["message"]


def test_a_prompt_can_be_refused(caller: Caller) -> None:
    answer = submit(caller, mode="preview", prompt=caller.prompt(refusal=True))

    assert (answer.status_code, answer.json().keys()) == (400, {"message"})


def test_a_running_task_is_cancelled_and_an_ended_one_deleted(caller: Caller) -> None:
    running, ended = preview(caller, polls=100), preview(caller)
    poll(caller, ended)

    for task_id in (running, ended):
        assert caller.http.delete(url_of(caller, f"{TEXT}/{task_id}")).status_code == 200

    assert poll(caller, running)["status"] == "CANCELED"
    assert caller.http.get(url_of(caller, f"{TEXT}/{ended}")).status_code == 404


def test_only_a_preview_that_has_succeeded_is_refined(caller: Caller) -> None:
    running = preview(caller, polls=100)

    assert submit(caller, mode="refine", preview_task_id=running).status_code == 400
    assert submit(caller, mode="refine", preview_task_id="unknown").status_code == 404


def test_a_task_is_found_on_the_path_of_its_kind_only(caller: Caller) -> None:
    assert caller.http.get(url_of(caller, f"{IMAGE}/{preview(caller)}")).status_code == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"mode": "preview", "prompt": ""},
        {"mode": "preview", "prompt": "x" * 601},
        {"mode": "preview", "prompt": "A fox", "negative_prompt": "wolf"},
        {"mode": "preview", "prompt": "A fox", "target_polycount": 99},
        {"mode": "preview", "prompt": "A fox", "topology": "round"},
        {"mode": "texture", "prompt": "A fox"},
        {"prompt": "A fox"},
    ],
)
def test_a_wrong_request_is_refused(caller: Caller, fields: dict[str, Any]) -> None:
    answer = submit(caller, **fields)

    assert (answer.status_code, answer.json().keys()) == (400, {"message"})


@pytest.mark.parametrize("uri", ["data:image/png;base64,AAAA", "data:text/plain,fox", "fox.png"])
def test_what_is_no_picture_is_refused(caller: Caller, uri: str) -> None:
    assert submit(caller, IMAGE, image_url=uri).status_code == 400


def test_the_picture_of_the_tests_is_one() -> None:
    assert png.size(PICTURE) == (64, 64)
