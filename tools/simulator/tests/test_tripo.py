"""Tripo's 3D models: of a text, of a picture that was uploaded, and with another texture."""

from typing import Any

import httpx
import pytest

from simulator.pictures import Picture
from simulator.tests import model3d
from simulator.tests.conftest import Caller

PICTURE = Picture("A fox", 64, 64, "seed").png()
VERSION = "v3.0-20250812"


def url_of(caller: Caller, path: str) -> str:
    return f"{caller.simulator.url}/tripo/v2/openapi/{path}"


def submit(caller: Caller, **fields: object) -> httpx.Response:
    return caller.http.post(url_of(caller, "task"), json={"model_version": VERSION} | fields)


def begin(caller: Caller, **fields: object) -> str:
    answer = submit(caller, **fields).json()
    assert answer["code"] == 0
    return str(answer["data"]["task_id"])


def of_text(caller: Caller, **options: object) -> str:
    return begin(caller, type="text_to_model", prompt=caller.prompt(**options))


def poll(caller: Caller, task_id: str) -> dict[str, Any]:
    answer = caller.http.get(url_of(caller, f"task/{task_id}")).json()
    assert answer["code"] == 0
    task: dict[str, Any] = answer["data"]
    return task


def upload(caller: Caller, data: bytes, path: str = "upload") -> httpx.Response:
    files = {"file": ("fox.png", data, "image/png")}
    return caller.http.post(url_of(caller, path), files=files)


def model(task: dict[str, Any], name: str = "pbr_model") -> model3d.Seen:
    assert task["status"] == "success"
    assert task["output"].keys() == {name, "rendered_image"}
    assert httpx.get(task["output"]["rendered_image"]).content.startswith(b"\x89PNG")
    return model3d.view(httpx.get(task["output"][name]).content)


def test_a_model_is_made_of_a_text(caller: Caller) -> None:
    task = poll(caller, of_text(caller))

    assert model(task).texture is not None
    assert (task["type"], task["progress"]) == ("text_to_model", 100)
    entry = caller.entry()
    assert (entry["outcome"], entry["model"], entry["files_emitted"]) == ("completed", VERSION, 2)


@pytest.mark.parametrize(
    ("texture", "name", "is_textured"), [(False, "base_model", False), (True, "model", True)]
)
def test_a_model_is_named_by_its_texture(
    caller: Caller, texture: bool, name: str, is_textured: bool
) -> None:
    task_id = begin(caller, type="text_to_model", prompt="A fox", texture=texture, pbr=False)

    seen = model(poll(caller, task_id), name)

    assert (seen.texture is not None) == is_textured


@pytest.mark.parametrize("path", ["upload", "upload/sts"])
def test_a_model_is_made_of_an_uploaded_picture(caller: Caller, path: str) -> None:
    token = upload(caller, PICTURE, path).json()["data"]["image_token"]

    task_id = begin(caller, type="image_to_model", file={"type": "png", "file_token": token})

    assert model(poll(caller, task_id)).texture is not None


def test_a_picture_steers_by_its_description(caller: Caller) -> None:
    picture = Picture(caller.prompt(finish="failed"), 64, 64, "seed").png()
    token = upload(caller, picture).json()["data"]["image_token"]

    task_id = begin(caller, type="image_to_model", file={"type": "png", "file_token": token})

    assert poll(caller, task_id)["status"] == "failed"
    assert caller.entry()["references"] == 1


def test_a_finished_model_gets_a_texture(caller: Caller) -> None:
    plain = begin(caller, type="text_to_model", prompt=caller.prompt(), texture=False, pbr=False)
    assert model(poll(caller, plain), "base_model").texture is None

    textured = begin(
        caller,
        type="texture_model",
        original_model_task_id=plain,
        texture_prompt={"text": "red fur"},
    )

    assert model(poll(caller, textured)).texture is not None


def test_a_task_waits_and_runs_before_it_ends(caller: Caller) -> None:
    task_id = of_text(caller, queue=2, polls=2)

    tasks = [poll(caller, task_id) for _ in range(4)]

    assert [task["status"] for task in tasks] == ["queued", "queued", "running", "success"]
    assert [task.get("queuing_num") for task in tasks] == [2, 1, None, None]
    assert tasks[2]["progress"] == 50
    assert tasks[2]["running_left_time"] > 0


@pytest.mark.parametrize(
    ("option", "status"),
    [
        ({"finish": "failed"}, "failed"),
        ({"blocked": True}, "banned"),
        ({"finish": "expired"}, "expired"),
        ({"finish": "cancelled"}, "cancelled"),
        ({"finish": "unknown"}, "unknown"),
    ],
)
def test_a_task_can_end_without_a_model(
    caller: Caller, option: dict[str, Any], status: str
) -> None:
    task = poll(caller, of_text(caller, **option))

    assert (task["status"], task["output"]) == (status, {})
    assert caller.entry()["outcome"] in ("failed", "blocked")


def test_a_prompt_can_be_refused(caller: Caller) -> None:
    answer = submit(caller, type="text_to_model", prompt=caller.prompt(refusal=True))

    assert (answer.status_code, answer.json()["code"]) == (400, 2008)


@pytest.mark.parametrize(("status", "code"), [(429, 2000), (403, 2010), (500, 1000)])
def test_an_error_has_a_code(caller: Caller, status: int, code: int) -> None:
    answer = submit(caller, type="text_to_model", prompt=caller.prompt(status=status))

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json().keys() == {"code", "message", "suggestion"}


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "text_to_model", "prompt": ""},
        {"type": "text_to_model", "prompt": "A fox", "model_version": "v9"},
        {"type": "text_to_model", "prompt": "A fox", "quad": True},
        {"type": "text_to_model", "prompt": "A fox", "aspect": "1:1"},
        {"type": "image_to_model", "file": {"type": "png"}},
        {"type": "image_to_model", "file": {"type": "png", "file_token": "unknown"}},
        {"type": "dance"},
    ],
)
def test_a_wrong_request_is_refused(caller: Caller, fields: dict[str, Any]) -> None:
    assert submit(caller, **fields).status_code == 400


def test_what_is_no_picture_is_not_uploaded(caller: Caller) -> None:
    assert upload(caller, b"no picture").status_code == 400


def test_a_task_that_nobody_began_is_a_404(caller: Caller) -> None:
    answer = caller.http.get(url_of(caller, "task/unknown"))

    assert (answer.status_code, answer.json()["code"]) == (404, 2001)
