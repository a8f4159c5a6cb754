"""The files of video and 3D: ranges, signed addresses, and what can be wrong with them."""

import time
from typing import Any

import httpx
import pytest
from av.error import FFmpegError

from simulator.tests import film
from simulator.tests.conftest import Caller

HEADERS = {"X-Runway-Version": "2024-11-06"}


def tasks_url(caller: Caller) -> str:
    return f"{caller.simulator.url}/runway/v1"


def begin(caller: Caller, **options: object) -> httpx.Response:
    body = {
        "model": "gen4.5",
        "promptText": caller.prompt(**options),
        "ratio": "1280:720",
        "duration": 2,
    }
    return caller.http.post(f"{tasks_url(caller)}/text_to_video", json=body, headers=HEADERS)


def poll(caller: Caller, begun: httpx.Response) -> httpx.Response:
    url = f"{tasks_url(caller)}/tasks/{begun.json()['id']}"
    return caller.http.get(url, headers=HEADERS)


def address(caller: Caller, **options: object) -> str:
    """Where the result of a finished task is."""
    (url,) = poll(caller, begin(caller, **options)).json()["output"]
    return str(url)


def test_a_file_is_sent_whole(caller: Caller) -> None:
    answer = httpx.get(address(caller))

    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["accept-ranges"] == "bytes"
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        ("bytes=0-99", slice(0, 100)),
        ("bytes=100-199", slice(100, 200)),
        ("bytes=1000-", slice(1000, None)),
        ("bytes=-500", slice(-500, None)),
        ("bytes=0-999999999", slice(0, None)),
    ],
)
def test_a_part_of_a_file_is_sent(caller: Caller, wanted: str, part: slice) -> None:
    url = address(caller)
    whole = httpx.get(url).content

    answer = httpx.get(url, headers={"range": wanted})

    assert answer.status_code == 206
    assert answer.content == whole[part]
    first, end, _ = part.indices(len(whole))
    assert answer.headers["content-range"] == f"bytes {first}-{end - 1}/{len(whole)}"


@pytest.mark.parametrize("wanted", ["bytes=999999999-", "bytes=-0", "bytes=9-3", "lines=1-2"])
def test_a_part_outside_of_the_file_is_a_416(caller: Caller, wanted: str) -> None:
    url = address(caller)
    size = len(httpx.get(url).content)

    answer = httpx.get(url, headers={"range": wanted})

    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{size}"


def test_an_address_is_signed(caller: Caller) -> None:
    url = address(caller)
    bare = url.partition("?")[0]

    assert httpx.get(bare).status_code == 403
    assert httpx.get(f"{url}0").status_code == 403
    assert httpx.get(url.replace("Expires=1", "Expires=2")).status_code == 403


def test_a_key_must_not_be_sent_to_an_address(caller: Caller) -> None:
    assert caller.http.get(address(caller)).status_code == 400


def test_a_result_can_be_empty(caller: Caller) -> None:
    answer = httpx.get(address(caller, result="empty"))

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "video/mp4"


def test_a_result_can_be_broken(caller: Caller) -> None:
    answer = httpx.get(address(caller, result="broken"))

    assert len(answer.content) > 1000
    with pytest.raises(FFmpegError):
        film.watch(answer.content)


def test_a_result_can_be_of_another_type(caller: Caller) -> None:
    answer = httpx.get(address(caller, result="other_type"))

    assert answer.headers["content-type"] == "text/html"
    assert answer.content.startswith(b"<!doctype html>")


def test_a_result_can_be_huge_and_a_film_still(caller: Caller) -> None:
    answer = httpx.get(address(caller, result="huge", result_bytes=20_000_000))

    assert len(answer.content) == 20_000_000
    assert film.watch(answer.content).seconds == pytest.approx(2, abs=0.1)


def test_a_huge_result_is_announced_before_it_is_sent(caller: Caller) -> None:
    with httpx.stream("GET", address(caller, result="huge")) as answer:
        assert answer.headers["content-length"] == str(2 * 1024**3)
        assert next(answer.iter_raw(1000)).startswith(b"\0\0\0 ftyp")


def test_a_result_can_lead_elsewhere(caller: Caller) -> None:
    answer = httpx.get(address(caller, result="redirect"))

    assert (answer.status_code, answer.headers["location"]) == (302, "http://127.0.0.1:1/")


def test_an_address_can_have_expired_once(caller: Caller) -> None:
    url = address(caller, result="expired", times=1)

    first, second = httpx.get(url), httpx.get(url)

    assert (first.status_code, second.status_code) == (403, 200)
    assert b"Request has expired" in first.content


@pytest.mark.parametrize(("options", "status"), [({"status": 500}, 500), ({"missing": True}, 404)])
def test_a_file_can_fail_to_come(caller: Caller, options: dict[str, Any], status: int) -> None:
    url = address(caller, at=["file"], times=1, **options)

    assert [httpx.get(url).status_code for _ in range(2)] == [status, 200]


@pytest.mark.parametrize("fault", ["drop", "truncate"])
def test_a_connection_can_be_cut_before_or_in_the_middle_of_a_file(
    caller: Caller, fault: str
) -> None:
    url = address(caller, at=["file"], times=1, **{fault: True})

    with pytest.raises(httpx.TransportError):
        httpx.get(url)
    assert film.watch(httpx.get(url).content).seconds == pytest.approx(2, abs=0.1)
    assert caller.entry()["files_emitted"] == 1


def test_a_submission_whose_answer_is_lost_has_begun(caller: Caller) -> None:
    with pytest.raises(httpx.TransportError):
        begin(caller, drop=True)

    assert caller.entry()["kind"] == "operations"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_submission_can_fail(caller: Caller, status: int) -> None:
    answer = begin(caller, status=status, retry_after=7)

    assert (answer.status_code, answer.json().keys()) == (status, {"error"})
    assert answer.headers["retry-after"] == "7"


def test_a_poll_that_fails_does_not_count(caller: Caller) -> None:
    begun = begin(caller, polls=2, status=503, at=["poll"], times=1)

    answers = [poll(caller, begun) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [503, 200, 200]
    assert [answer.json()["status"] for answer in answers[1:]] == ["RUNNING", "SUCCEEDED"]


def test_a_task_can_be_unknown_to_some_polls(caller: Caller) -> None:
    begun = begin(caller, missing=True, at=["poll"], times=2)

    assert [poll(caller, begun).status_code for _ in range(3)] == [404, 404, 200]


def test_an_answer_to_a_poll_can_be_no_json(caller: Caller) -> None:
    answer = poll(caller, begin(caller, bad_json=True, at=["poll"]))

    with pytest.raises(ValueError, match=r"delimiter|Unterminated|Expecting"):
        answer.json()


def test_a_cancellation_can_fail_to_be_answered(caller: Caller) -> None:
    begun = begin(caller, polls=100, status=500, at=["cancel"], times=1)
    url = f"{tasks_url(caller)}/tasks/{begun.json()['id']}"

    assert caller.http.delete(url, headers=HEADERS).status_code == 500
    assert poll(caller, begun).json()["status"] == "CANCELLED"


def test_a_task_can_take_its_time(caller: Caller) -> None:
    begun = begin(caller, polls=0, delay_ms=300)
    assert poll(caller, begun).json()["status"] == "RUNNING"

    deadline = time.monotonic() + 5
    while poll(caller, begun).json()["status"] == "RUNNING":
        assert time.monotonic() < deadline
        time.sleep(0.05)

    assert poll(caller, begun).json()["status"] == "SUCCEEDED"


def test_a_task_of_another_provider_is_unknown(caller: Caller) -> None:
    task_id = begin(caller).json()["id"]

    url = f"{caller.simulator.url}/luma/dream-machine/v1/generations/{task_id}"

    assert caller.http.get(url).status_code == 404
