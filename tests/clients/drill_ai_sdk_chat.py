"""Conversations with the unmodified Vercel AI SDK: its transport in Node, and its `useChat` in a
page of another origin, which is loaded again in the middle of a reply."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from publicapi.tests.v1.customer import Customer
from tests.clients import page
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, node_client
from tests.personas import new_user
from tests.service import Web
from tests.talk import Talk

pytestmark = node_client("ai_sdk", "The Vercel AI SDK")

FOLDER = PROGRAMS / "ai_sdk"
WORDS = "Paris, 巴黎, 🗼 it is."
# A word at a time, so that each can be seen to be drawn.
GROWING: dict[str, Any] = {
    "text": WORDS,
    "tokens": 30,
    "reasoning_tokens": 5,
    "delay_ms": 20,
    "delta_tokens": 1,
}


@pytest.fixture
def talk(alice: Customer) -> Talk:
    return Talk(alice.user, marker=alice.marker)


def test_a_reply_is_shown_as_it_grows(run: Run, web: Web, talk: Talk) -> None:
    seen = _in_node(run, web, talk, "shown", **GROWING)

    [asked, message] = _messages(web, talk)
    growth = seen["growth"]
    assert seen["errors"] == []
    assert growth == sorted(growth)
    assert len(set(growth)) > 10
    assert seen["message"]["id"] == message["id"] == str(talk.reply.pk)
    assert _text(seen["message"]) == message["content"]
    assert _text(seen["message"], "reasoning") == message["reasoning"] != ""
    assert len(message["content"].split()) == 30
    assert {part["type"] for part in seen["message"]["parts"]} == {"text", "reasoning"}
    metadata = seen["message"]["metadata"]
    assert metadata == {
        "conversation_id": str(talk.id),
        "user_message_id": asked["id"],
        "model": message["model"],
        "context": message["context"],
        "status": "completed",
        "usage": message["usage"],
    }
    assert metadata["usage"]["paid_by_balance_usd"] > metadata["usage"]["paid_by_plan_usd"] == 0


def test_a_failure_is_told_and_what_came_before_it_stays(run: Run, web: Web, talk: Talk) -> None:
    seen = _in_node(run, web, talk, "shown", text="one " * 9, fail="after", after_tokens=3)

    [_, message] = _messages(web, talk)
    assert seen["errors"] == [message["error"]["message"]]
    assert _text(seen["message"]) == message["content"] != ""
    assert seen["message"]["metadata"]["usage"] == message["usage"]


def test_a_reply_that_was_not_billed_has_no_usage(run: Run, web: Web, talk: Talk) -> None:
    seen = _in_node(run, web, talk, "shown", status=400)

    [_, message] = _messages(web, talk)
    assert seen["errors"] == [message["error"]["message"]]
    assert seen["message"]["metadata"]["status"] == "failed"
    assert seen["message"]["metadata"]["usage"] is message["usage"] is None


def test_a_refusal_is_what_it_says(run: Run, web: Web, alice: Customer) -> None:
    poor = Talk(new_user("bob", plan="max"), marker=alice.marker)

    seen = _in_node(run, web, poor, "refused")

    assert seen["detail"]["code"] == "insufficient_balance"
    assert not poor.replies().exists()


def test_a_reply_is_stopped(run: Run, web: Web, talk: Talk) -> None:
    seen = _in_node(run, web, talk, "stopped", tokens=500, delay_ms=30)

    [_, message] = _messages(web, talk)
    assert (seen["status"], seen["errors"]) == (202, [])
    assert message["status"] == "cancelled"
    assert _text(seen["message"]) == message["content"] != ""
    assert seen["message"]["metadata"]["usage"] == message["usage"]


def test_a_reply_is_resumed(run: Run, web: Web, talk: Talk) -> None:
    seen = _in_node(run, web, talk, "resumed", text=WORDS, tokens=60, delay_ms=30)

    [_, message] = _messages(web, talk)
    before, after = seen["before"]["message"], seen["after"]["message"]
    assert before["id"] == after["id"] == message["id"]
    assert message["content"].startswith(_text(before))
    assert len(_text(before)) < len(_text(after))
    assert _text(after) == message["content"]
    assert after["metadata"]["usage"] == message["usage"]
    assert seen["after"]["errors"] == []
    assert seen["nothing"] is None


@page.needs_browser
def test_a_page_that_is_loaded_again_goes_on_with_the_reply(
    web: Web, talk: Talk, page_port: int, tmp_path: Path
) -> None:
    options = {**GROWING, "tokens": 60, "delay_ms": 30}
    seen = page.opened(
        _bundled(tmp_path),
        "chat.html",
        {
            "baseURL": web.url,
            "token": talk.token,
            "conversation": str(talk.id),
            "content": talk.content(**options),
        },
        profile=tmp_path / "profile",
        port=page_port,
    )

    assert "error" not in seen, seen["error"]
    before, resumed, again = (seen[name] for name in ("before", "resumed", "again"))
    [asked, first, second] = _messages(web, talk)
    assert before["id"] == resumed["id"] == first["id"]
    assert 0 < len(_text(before)) < len(_text(resumed))
    assert _text(resumed) == first["content"]
    assert _text(resumed, "reasoning") == first["reasoning"] != ""
    assert resumed["metadata"]["usage"] == first["usage"]
    assert seen["title"] == _title(web, talk)
    # Made again beside it, and drawn as it came.
    assert again["id"] == second["id"]
    assert (first["parent_id"], second["parent_id"]) == (asked["id"], asked["id"])
    assert _text(again) == second["content"] == first["content"]
    assert len(set(seen["growth"])) > 20
    assert seen["shown"] == [f"user: {asked['content']}", f"assistant: {second['content']}"]
    # By hand, after the tenth code point of thought.
    received = [part["delta"] for _, part in seen["tail"] if part["type"].endswith("-delta")]
    assert "".join(received) == (first["reasoning"] + first["content"])[10:]
    assert seen["tail"][-1][1]["type"] == "finish"
    assert seen["detail"]["messages"] == [asked, first, second]


def _in_node(run: Run, web: Web, talk: Talk, name: str, **options: Any) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(
        run(
            "node",
            FOLDER / "conversation.mjs",
            name,
            talk.content(**options),
            BASE_URL=web.url,
            TOKEN=talk.token,
            CONVERSATION=str(talk.id),
        )
    )
    return seen


def _bundled(folder: Path) -> Path:
    """The page with all that it imports in one file, as a browser needs it."""
    site = folder / "site"
    site.mkdir()
    shutil.copy(FOLDER / "chat.html", site)
    page.bundle(FOLDER / "chat.jsx", site / "chat.js", "--jsx=automatic")
    return site


def _messages(web: Web, talk: Talk) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = talk.ask(web.url, "GET").json()["messages"]
    return messages


def _title(web: Web, talk: Talk) -> str:
    title: str = talk.ask(web.url, "GET").json()["title"]
    return title


def _text(message: dict[str, Any], type_: str = "text") -> str:
    return "".join(part["text"] for part in message["parts"] if part["type"] == type_)
