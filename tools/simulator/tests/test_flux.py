"""Black Forest Labs' tasks: submitted, asked after, and their pictures fetched."""

from typing import Any

import httpx
import pytest

from simulator.tests import png
from simulator.tests.conftest import Caller

KEY = {"x-key": "alice"}


def submit(caller: Caller, model: str = "flux-2-pro", **fields: object) -> httpx.Response:
    url = f"{caller.simulator.base_url('bfl')}/{model}"
    return httpx.post(url, json={"prompt": caller.prompt()} | fields, headers=KEY)


def ask(task: httpx.Response) -> dict[str, Any]:
    result: dict[str, Any] = httpx.get(task.json()["polling_url"], headers=KEY).json()
    return result


def end_of(task: httpx.Response) -> dict[str, Any]:
    """The first status that is not pending."""
    result = ask(task)
    while result["status"] == "Pending":
        result = ask(task)
    return result


def test_a_picture_is_ready_after_a_while(caller: Caller) -> None:
    task = submit(caller, width=1248, height=832)
    assert task.json()["id"] == caller.entry()["id"]
    assert task.json()["cost"] == 3.0
    assert ask(task) == {
        "id": task.json()["id"],
        "status": "Pending",
        "result": None,
        "progress": None,
        "details": None,
    }
    assert caller.entry()["outcome"] == "running"
    result = ask(task)
    assert result["status"] == "Ready"
    assert caller.entry()["images_emitted"] == 0
    assert png.size(httpx.get(result["result"]["sample"]).content) == (1248, 832)
    entry = caller.entry()
    assert (entry["kind"], entry["outcome"], entry["size"]) == ("images", "completed", "1248x832")
    assert (entry["images"], entry["images_emitted"]) == (1, 1)


def test_more_megapixels_cost_more(caller: Caller) -> None:
    assert submit(caller, width=2048, height=1024).json()["cost"] == 4.5


def test_the_number_of_vain_questions_can_be_wished_for(caller: Caller) -> None:
    task = submit(caller, prompt=caller.prompt(polls=3))
    assert [ask(task)["status"] for _ in range(4)] == ["Pending", "Pending", "Pending", "Ready"]


def test_a_task_can_take_its_time(caller: Caller) -> None:
    task = submit(caller, prompt=caller.prompt(polls=0, delay_ms=60_000))
    assert [ask(task)["status"] for _ in range(3)] == ["Pending"] * 3


@pytest.mark.parametrize(
    ("option", "status", "outcome"),
    [
        ({"blocked": True}, "Request Moderated", "blocked"),
        ({"refusal": True}, "Content Moderated", "refusal"),
        ({"fail": "after"}, "Error", "error"),
        ({"pictures": 0}, "Error", "error"),
        ({"finish": "Failed"}, "Failed", "error"),
        ({"finish": "Task not found"}, "Task not found", "error"),
    ],
)
def test_a_task_can_end_without_a_picture(
    caller: Caller, option: dict[str, Any], status: str, outcome: str
) -> None:
    result = end_of(submit(caller, prompt=caller.prompt(**option)))
    assert (result["status"], result["result"]) == (status, None)
    assert caller.entry()["outcome"] == outcome
    assert caller.entry()["images_emitted"] == 0


def test_the_picture_can_be_missing(caller: Caller) -> None:
    result = end_of(submit(caller, prompt=caller.prompt(missing=True)))
    assert httpx.get(result["result"]["sample"]).status_code == 404


def test_a_task_that_nobody_submitted_is_not_found(caller: Caller) -> None:
    answer = httpx.get(f"{caller.simulator.base_url('bfl')}/get_result?id=none")
    assert answer.status_code == 404
    assert answer.json()["status"] == "Task not found"


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": ""},
        {"width": 1250},
        {"height": 32},
        {"width": 2064, "height": 2064},
        {"safety_tolerance": 7},
        {"size": "1024x1024"},
    ],
)
def test_a_field_that_the_model_refuses_is_refused(caller: Caller, fields: dict[str, Any]) -> None:
    answer = submit(caller, **fields)
    assert answer.status_code == 422
    assert answer.json()["detail"][0].keys() == {"loc", "msg", "type"}


def test_errors_have_a_detail(caller: Caller) -> None:
    refused = submit(caller, prompt=caller.prompt(status=402))
    assert (refused.status_code, refused.json().keys()) == (402, {"detail"})
    assert submit(caller, "flux-0").status_code == 404


@pytest.mark.parametrize("headers", [{}, {"x-key": "wrong"}, {"authorization": "Bearer alice"}])
def test_a_key_is_required(caller: Caller, headers: dict[str, str]) -> None:
    url = f"{caller.simulator.base_url('bfl')}/flux-2-pro"
    assert httpx.post(url, json={"prompt": "A fox"}, headers=headers).status_code == 403
