"""Conversations: a message, its reply read over as many connections as it takes, and what comes
after it."""

from contextlib import suppress
from typing import Any

import httpx

from bench.campaign.asking import Asker
from tests.talk import Reading

PATH = "/api/conversations"
_SOON = 3  # parts of a stream
# The platform pays for the title.
_TITLE = {"title": True, "text": "A talk", "marker": None}


def reply(asker: Asker) -> None:
    note, then = asker.note, asker.note.act.options["then"]
    created = asker.ask("POST", PATH, {"model": "gpt-6-luna"})
    assert created.status_code == 201, created.text
    conversation = note.seen["conversation"] = created.json()["id"]
    message_id = _send(
        asker, f"{PATH}/{conversation}/messages", message(asker), f"{note.name}", then
    )
    if message_id and then == "regenerate":
        _send(
            asker,
            f"{PATH}/{conversation}/messages/{message_id}/regenerate",
            {},
            f"{note.name}-again",
            "",
        )


def send_again(asker: Asker) -> None:
    """The message once more, to be answered in one JSON."""
    path = f"{PATH}/{asker.note.seen['conversation']}/messages"
    asker.ask("POST", path, {**message(asker), "stream": False}, name=asker.note.name)


def message(asker: Asker) -> dict[str, Any]:
    """What is asked, with the uploads of the act."""
    lines = (asker.note.act.options["steering"], _TITLE)
    content = asker.prompt("How deep is the sea?", *lines)
    return {"content": content, "upload_ids": [*asker.note.seen.get("uploads", ())]}


def _send(asker: Asker, path: str, body: dict[str, Any], name: str, then: str) -> str | None:
    """Send something that is replied to, and follow the reply. Returns its id; None where it was
    refused."""
    reading = Reading()
    while True:
        try:
            with asker.open("POST", path, body, name=name) as answer:
                if answer.status_code == 200:
                    _read(asker, reading, answer, then)
                elif not asker.is_for_later(answer):
                    asker.note.seen["refusal"] = answer.json()["code"]
                    return None
        except httpx.TransportError:
            pass
        if reading.has("start"):
            break
        asker.pause()
    _follow(asker, reading, then)
    return str(reading.message_id)


def _read(asker: Asker, reading: Reading, answer: httpx.Response, then: str) -> None:
    reading.follow(answer)
    if then and then != "regenerate":
        with suppress(StopIteration):
            reading.until(lambda so_far: so_far.offset and so_far.offset > _SOON)
        if then == "stop" and reading.has("start"):
            stop = f"{PATH}/{asker.note.seen['conversation']}/messages/{reading.message_id}/stop"
            asker.ask("POST", stop)
        if then == "hang up":
            return
    reading.to_end()


def _follow(asker: Asker, reading: Reading, then: str) -> None:
    """Come back until the reply has ended, and note what was read of it."""
    message_id = str(reading.message_id)
    path = f"{PATH}/{asker.note.seen['conversation']}/messages/{message_id}"
    while not reading.ended:
        try:
            with asker.open("GET", f"{path}/stream", place=reading.offset) as answer:
                if answer.status_code == 204:
                    break
                if answer.status_code == 200:
                    reading.read(answer)
        except httpx.TransportError:
            pass
        if not reading.ended:
            asker.pause()
    asker.note.seen.setdefault("replies", {})[message_id] = {
        "text": reading.text,
        "reasoning": reading.reasoning,
        "finish": reading.part("finish") if reading.has("finish") else None,
    }
