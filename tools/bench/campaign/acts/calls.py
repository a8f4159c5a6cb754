"""Calls of `/v1`. A named one is sent again until it has an answer, as the official clients do it;
another one only where its process was not reached."""

import json
from hashlib import sha256
from typing import Any

import httpx

from bench.campaign.asking import Asker
from bench.campaign.notes import Answer

# The plan has an allowance for one of them, the balance pays the other.
MODELS = ("gpt-6-luna", "kimi-k3")
CHAT, EMBEDDINGS, IMAGES = "/v1/chat/completions", "/v1/embeddings", "/v1/images/generations"
MAX_TOKENS = 400
# Chunks that are read by who hangs up.
_FEW = 3


def chat(asker: Asker) -> None:
    body = chat_body(asker)
    if asker.note.act.options["hangs_up"]:
        _hang_up(asker, body)
    elif body["stream"]:
        _read_stream(asker, body)
    else:
        _read_whole(asker, CHAT, body)


def embeddings(asker: Asker) -> None:
    body = {"model": "text-embedding-3-small", "input": [asker.prompt("cats"), "dogs"]}
    _read_whole(asker, EMBEDDINGS, body)


def picture(asker: Asker) -> None:
    body = {"model": "gpt-image-2.5-flare", "prompt": asker.prompt("A red boat.")}
    _read_whole(asker, IMAGES, body)


def chat_body(asker: Asker) -> dict[str, Any]:
    act = asker.note.act
    return {
        "model": MODELS[act.number % len(MODELS)],
        "stream": act.options["stream"],
        "max_tokens": MAX_TOKENS,
        "messages": [{"role": "user", "content": asker.prompt("How are you?")}],
    }


def chat_again(asker: Asker) -> None:
    """As a whole, whichever way it was asked for before."""
    _read_whole(asker, CHAT, {**chat_body(asker), "stream": False})


AGAIN = {"chat": chat_again, "embeddings": embeddings, "picture_call": picture}


def _read_whole(asker: Asker, path: str, body: dict[str, Any]) -> None:
    key, note = asker.person.key, asker.note
    if note.name:
        _note(asker, asker.ask("POST", path, body, name=note.name, key=key))
        return
    while True:
        try:
            with asker.open("POST", path, body, key=key) as answer:
                answer.read()
                if not asker.is_for_later(answer):
                    _note(asker, answer)
                    return
        except httpx.ConnectError:
            pass
        except httpx.TransportError:
            note.seen["is cut off"] = True
            return
        asker.pause()


def _note(asker: Asker, answer: httpx.Response) -> None:
    note = asker.note
    if answer.status_code != 200:
        note.seen["refusal"] = answer.json()["error"]["code"]
        return
    body = answer.json()
    usage = body.get("usage") or {}
    if "choices" in body:
        note.answers.append(Answer(body["id"], body["choices"][0]["message"]["content"], usage))
        return
    if answer.url.path == IMAGES:
        # Links are fresh each time, and lead to the same files.
        names = [each["url"].partition("/files/")[2].partition("?")[0] for each in body["data"]]
        note.seen["files"] = [each["url"] for each in body["data"]]
        note.answers.append(Answer("", " ".join(names), usage))
        return
    digest = sha256(json.dumps(body["data"]).encode()).hexdigest()
    note.answers.append(Answer("", digest, usage))


def _read_stream(asker: Asker, body: dict[str, Any]) -> None:
    """Read a stream; a named one that breaks off is asked for again."""
    body = {**body, "stream_options": {"include_usage": True}}
    note, key = asker.note, asker.person.key
    while True:
        try:
            with asker.open("POST", CHAT, body, name=note.name, key=key) as answer:
                if not asker.is_for_later(answer):
                    if answer.status_code != 200:
                        note.seen["refusal"] = answer.json()["error"]["code"]
                    elif found := _join(answer):
                        note.answers.append(found)
                    else:
                        note.seen["has failed"] = True
                    return
        except httpx.ConnectError:
            pass
        except httpx.TransportError:
            if not note.name:
                note.seen["is cut off"] = True
                return
        asker.pause()


def _join(answer: httpx.Response) -> Answer | None:
    """The whole answer of a stream; None where it ends with an error. Raises
    httpx.RemoteProtocolError where it has no end."""
    identity, text, failed = "", "", False
    usage: dict[str, Any] = {}
    for line in answer.iter_lines():
        if line == "data: [DONE]":
            return None if failed else Answer(identity, text, usage)
        if not line.startswith("data: "):
            continue
        chunk = json.loads(line.removeprefix("data: "))
        failed = failed or "error" in chunk
        identity = chunk.get("id", identity)
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices", ()):
            text += choice["delta"].get("content") or ""
    raise httpx.RemoteProtocolError("The stream has no end.")


def _hang_up(asker: Asker, body: dict[str, Any]) -> None:
    """Read a little of a stream, in one attempt."""
    note = asker.note
    note.seen["is cut off"] = True
    try:
        with asker.open(
            "POST", CHAT, {**body, "stream": True}, name=note.name, key=asker.person.key
        ) as answer:
            for number, _ in enumerate(answer.iter_lines()):
                if number == _FEW:
                    return
    except httpx.TransportError:
        pass
