"""docs/api/chat.md: its examples run, its tables are those of the code."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest

from ai.generations.running import LostCallHandler
from ai.inference import errors
from ai.provider_health import errors as refusals
from ai.providers.types import FinishReason
from apidocs.openapi.document import document
from billing.types import FREE_MESSAGES, FREE_WINDOW_HOURS
from common.errors import DomainError, ServiceUnavailable
from conversations.frames import Frames
from conversations.models import Message
from conversations.request_serializers.sending import SendInputSerializer
from conversations.services.completion import REPLY
from conversations.types import MAX_ATTACHMENTS, MAX_CHARACTERS, MAX_CONTENT, MAX_MESSAGES
from devserver.paths import ROOT
from devserver.throwaway import MARK
from tests.chaos.proxy import CuttingProxy
from tests.documents import assert_same, examples, rows, section
from tests.personas import PASSWORD, new_user
from tests.service import Web
from tests.talk import Talk

PAGE = ROOT / "docs" / "api" / "chat.md"
QUESTION = "Why is the sea blue?"
with_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed.")


@pytest.fixture
def talk(committed: None) -> Talk:
    return Talk(new_user("alice", plan="max", balance_usd=5))


# --- Examples -----------------------------------------------------------------------------------


def test_a_message_is_answered_as_it_is_written(committed: None, web: Web, tmp_path: Path) -> None:
    alice = new_user("alice", plan="max")
    _, quick_start = examples(section(PAGE.with_name("app.md"), "Quick start"), "sh")
    sign_in, _, _ = quick_start.partition("\n\n")
    [example] = examples(section(PAGE, "A message and its reply"), "sh")

    (tmp_path / "python3").symlink_to(sys.executable)
    seen = run(
        f"{sign_in}\n{example}",
        tmp_path,
        PATH=f"{tmp_path}:{os.environ['PATH']}",
        BASE_URL=web.url,
        EMAIL=alice.email,
        PASSWORD=PASSWORD,
    )

    parts = [json.loads(data) for data in re.findall(r"^data: (\{.*)$", seen, re.MULTILINE)]
    assert [part["type"] for part in parts][:2] == ["start", "text-start"]
    assert QUESTION in "".join(part.get("delta", "") for part in parts)
    assert parts[-1]["type"] == "finish"
    assert seen.endswith("data: [DONE]\n\n")


@with_node
def test_the_reader_has_the_whole_reply_whatever_the_network_does(
    web: Web, talk: Talk, tmp_path: Path
) -> None:
    [example] = examples(section(PAGE, "A reader of your own"), "js")
    # It is written for longer than the reader pauses after all cuts: what is read afterwards may be
    # too short to be cut.
    words = "Grüße\u2028👩\u200d👧"
    content = talk.content(words, tokens=2_000, reasoning_tokens=30, delay_ms=10)
    with CuttingProxy(web.port, cuts=20, most_bytes=3_000) as proxy:
        reply = json.loads(in_node(example, tmp_path, proxy.url, talk, content))

    assert proxy.cuts_left == 0
    message = stored(web, talk)
    assert reply["id"] == message["id"] == str(talk.reply.pk)
    assert (reply["text"], reply["reasoning"]) == (message["content"], message["reasoning"])
    assert reply["usage"] == message["usage"]


@with_node
def test_the_reader_is_told_of_a_failure(web: Web, talk: Talk, tmp_path: Path) -> None:
    [example] = examples(section(PAGE, "A reader of your own"), "js")
    content = talk.content(tokens=9, fail="after", after_tokens=3)

    reply = json.loads(in_node(example, tmp_path, web.url, talk, content))

    message = stored(web, talk)
    assert reply["error"] == message["error"]["message"]
    assert reply["text"] == message["content"] != ""


@with_node
def test_the_reader_has_what_was_stored_of_a_reply_that_was_interrupted(
    web: Web, talk: Talk, tmp_path: Path
) -> None:
    [example] = examples(section(PAGE, "A reader of your own"), "js")
    content = talk.content(tokens=500, delay_ms=20)

    with ThreadPoolExecutor() as pool:
        reading = pool.submit(in_node, example, tmp_path, web.url, talk, content)
        while not (talk.replies().exists() and stored(web, talk)["content"]):
            time.sleep(0.05)
        LostCallHandler(REPLY).on_lost(talk.reply.pk, 1)
        reply = json.loads(reading.result())

    message = stored(web, talk)
    assert message["error"]["code"] == "interrupted"
    assert (reply["text"], reply["error"]) == (message["content"], message["error"]["message"])


@with_node
def test_the_reader_is_told_of_a_refusal(committed: None, web: Web, tmp_path: Path) -> None:
    poor = Talk(new_user("bob", plan="max"))
    [example] = examples(section(PAGE, "A reader of your own"), "js")

    with pytest.raises(AssertionError, match="insufficient_balance"):
        in_node(example, tmp_path, web.url, poor, QUESTION)

    assert not poor.replies().exists()


# --- Tables -------------------------------------------------------------------------------------


def test_every_field_of_the_body_is_explained() -> None:
    explained = {row[0] for row in rows(section(PAGE, "A message and its reply"))}

    assert_same(
        explained, SendInputSerializer().fields, "docs/api/chat.md: the fields of a message"
    )


def test_every_type_of_event_is_explained(web: Web, talk: Talk) -> None:
    explained = {
        name for row in rows(section(PAGE, "What comes")) for name in re.findall(r"[\w-]+", row[0])
    }

    titled = talk.post(web.url, tokens=5, reasoning_tokens=3)
    failed = talk.post(web.url, tokens=5, fail="after", after_tokens=3)

    written = set(re.findall(r'"type":"([\w-]+)"', titled.text + failed.text))
    assert_same(explained, written, "docs/api/chat.md: the parts of a stream")


def test_every_refusal_is_explained() -> None:
    explained = {
        (int(status), code)
        for status, codes, _ in rows(section(PAGE, "When it is refused"))
        for code in re.findall(r"\w+", codes)
    }

    path = "/api/conversations/{conversation_id}/messages"
    answers = document()["paths"][path]["post"]["responses"]
    described = {
        (error.status, error.code)
        for error in _all_errors(DomainError)
        if "message" in vars(error)
        and f"- {error.message}" in answers.get(str(error.status), {}).get("description", "")
    }
    assert_same(explained, described, "docs/api/chat.md: the refusals")


def test_every_end_is_explained() -> None:
    [stream, status, reason] = zip(
        *(row[:3] for row in rows(section(PAGE, "How it ended"))), strict=True
    )

    for theirs, state, ours in zip(stream, status, reason, strict=True):
        ended = {
            "status": state,
            "finish_reason": None if ours == "null" else ours,
            "usage": None,
            "error": {"code": "", "message": ""},
        }
        assert f'"finishReason":"{theirs}"' in Frames().end(ended).decode()
    # No reply has tools.
    reasons = {*get_args(FinishReason), "null"} - {"tool_calls"}
    assert_same(set(reason), reasons, "docs/api/chat.md: finish reasons")
    assert_same({*status, "running"}, Message.Status.values, "docs/api/chat.md: statuses")


def test_every_failure_is_explained() -> None:
    explained = {
        code
        for codes, _ in rows(section(PAGE, "When it fails"))
        for code in re.findall(r"\w+", codes)
    }

    failures = {
        error.code
        for error in _all_errors(DomainError)
        if error.__module__ in (errors.__name__, refusals.__name__)
        and "code" in vars(error)
        # The first is its user's option, the second is about what no message has.
        and error not in (errors.CallCancelled, errors.UnsupportedParameter)
    }
    # That of a call which the restart of its server has ended.
    codes = failures | {ServiceUnavailable.code}
    assert_same(explained, codes, "docs/api/chat.md: the errors of a reply")


def _all_errors(kind: type[DomainError]) -> Iterator[type[DomainError]]:
    for error in kind.__subclasses__():
        yield error
        yield from _all_errors(error)


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("A message and its reply", f"1 to {MAX_CONTENT:,} characters"),
        ("A message and its reply", f"up to {MAX_ATTACHMENTS} files"),
        ("When it is refused", f"{FREE_MESSAGES} messages to this model"),
        ("When it is refused", f"within {FREE_WINDOW_HOURS} hours"),
        ("When it is refused", f"{MAX_MESSAGES:,} messages, or {MAX_CHARACTERS:,} characters"),
    ],
)
def test_a_figure_is_that_of_the_code(title: str, words: str) -> None:
    assert words in re.sub(r"\s+", " ", section(PAGE, title))


# --- Running ------------------------------------------------------------------------------------


def in_node(example: str, folder: Path, url: str, talk: Talk, content: str) -> str:
    """What the example prints when it sends that message."""
    (folder / "example.mjs").write_text(example)
    return run(
        'node example.mjs "$CONTENT"',
        folder,
        PATH=os.environ["PATH"],
        BASE_URL=url,
        TOKEN=talk.token,
        CONVERSATION=str(talk.id),
        CONTENT=content,
    )


def run(script: str, folder: Path, **variables: str) -> str:
    done = subprocess.run(
        ["bash", "-ec", script],
        cwd=folder,
        env={MARK: os.environ[MARK], **variables},
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def stored(web: Web, talk: Talk) -> dict[str, Any]:
    """The newest message, as the service keeps it."""
    messages: list[dict[str, Any]] = talk.ask(web.url, "GET").json()["messages"]
    return messages[-1]
