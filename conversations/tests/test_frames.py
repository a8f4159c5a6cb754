"""Replies as frames, for readers who begin anywhere."""

import json
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from ai.generations.types import Kind
from common.money import usd
from conversations.frames import Frames

USAGE = {"output_tokens": 3}
COMPLETED = {"status": "completed", "finish_reason": "stop", "usage": USAGE, "error": None}

pieces = st.lists(st.tuples(st.sampled_from(get_args(Kind)), st.text()), max_size=12)


def read(frames: bytes) -> list[tuple[int, dict[str, Any]]]:
    """The ids and data of frames."""
    received = []
    for frame in frames.decode().split("\n\n")[:-1]:
        number, data = frame.split("\n")
        received.append((int(number.removeprefix("id: ")), json.loads(data.removeprefix("data: "))))
    return received


def deltas(received: list[tuple[int, dict[str, Any]]]) -> str:
    return "".join(data["delta"] for _, data in received if data["type"].endswith("-delta"))


@given(said=pieces, data=st.data())
def test_what_a_reader_has_and_what_comes_then_is_all(
    said: list[tuple[Kind, str]], data: st.DataObject
) -> None:
    whole = "".join(text for _, text in said)
    seen = data.draw(st.integers(0, len(whole)))
    frames = Frames(seen)
    received = [frame for piece in said for frame in read(frames.pieces([piece]))]
    assert whole[:seen] + deltas(received) == whole
    at = seen
    for number, each in received:
        at += len(each.get("delta", ""))
        assert number == at


@given(said=pieces, data=st.data())
def test_every_part_is_opened_filled_and_closed(
    said: list[tuple[Kind, str]], data: st.DataObject
) -> None:
    whole = "".join(text for _, text in said)
    frames = Frames(data.draw(st.integers(0, len(whole))))
    received = read(frames.pieces(said))
    ended = frames.end(COMPLETED)
    assert ended.endswith(b"data: [DONE]\n\n")
    received += read(ended.rpartition(b"id: ")[0])
    parts = [(each["type"], each["id"]) for _, each in received if "id" in each]
    seen_ids = set()
    while parts:
        kind, number = parts[0]
        assert number not in seen_ids
        seen_ids.add(number)
        own = [each for each in parts if each[1] == number]
        assert parts[: len(own)] == own
        name = kind.removesuffix("-start")
        assert own[0] == (f"{name}-start", number)
        assert own[-1] == (f"{name}-end", number)
        assert set(own[1:-1]) == {(f"{name}-delta", number)}
        parts = parts[len(own) :]


def finish(message: dict[str, Any] | None) -> list[dict[str, Any]]:
    frames = Frames().end(message)
    return [data for _, data in read(frames.rpartition(b"id: ")[0])]


def test_the_end_says_what_it_cost() -> None:
    [finished] = finish(COMPLETED)
    metadata = {"status": "completed", "usage": USAGE}
    assert finished == {
        "type": "finish",
        "finishReason": "stop",
        "usage": USAGE,
        "messageMetadata": metadata,
    }


def test_small_amounts_have_no_exponent() -> None:
    """As in JSON answers: 55,100 nano-USD are 0.0000551, which Python would write 5.51e-05."""
    usage = {**USAGE, "listed_usd": usd(55_100)}
    assert b'"listed_usd":0.0000551' in Frames().end({**COMPLETED, "usage": usage})


def test_words_of_providers_become_those_of_the_protocol() -> None:
    reasons = {"stop": "stop", "length": "length", "content_filter": "content-filter"}
    for ours, theirs in reasons.items():
        assert finish({**COMPLETED, "finish_reason": ours})[0]["finishReason"] == theirs


def test_a_failure_is_told_before_the_end() -> None:
    error = {"code": "upstream_error", "message": "It failed."}
    failed = {"status": "failed", "finish_reason": None, "usage": None, "error": error}
    finished, last = finish(failed)
    assert finished == {"type": "error", "errorText": "It failed.", "code": "upstream_error"}
    assert last["finishReason"] == "error"
    assert (last["usage"], last["messageMetadata"]) == (None, {"status": "failed", "usage": None})


def test_a_reply_that_is_no_more_ends_too() -> None:
    [finished] = finish(None)
    assert (finished["finishReason"], finished["messageMetadata"]["status"]) == (
        "other",
        "cancelled",
    )


def test_of_a_reply_that_was_stopped_before_it_began_no_cost_is_known() -> None:
    stopped = {"status": "cancelled", "finish_reason": None, "usage": None, "error": None}
    [finished] = finish(stopped)
    assert finished["usage"] is None
    assert finished["messageMetadata"] == {"status": "cancelled", "usage": None}


def test_who_did_not_think_has_no_part_for_it() -> None:
    """A reply that is told when it has ended is the same stream as before."""
    text: tuple[Kind, str] = ("text", "Deep.")
    assert Frames().pieces([("reasoning", ""), text]) == Frames().pieces([text])


def test_a_title_never_sends_a_reader_back() -> None:
    [(number, data)] = read(Frames(7).title("Sea"))
    assert (number, data["data"]) == (7, {"title": "Sea"})
    assert data["transient"] is True
