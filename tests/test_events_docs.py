"""docs/api/events.md: the printed `follow` does what the page says, in Node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from accounts.models import User
from devserver.paths import ROOT
from tests.documents import examples, section
from tests.environment import inherited
from tests.personas import access_token_of, authorization, new_user
from tests.service import Web

PAGE = ROOT / "docs" / "api" / "events.md"
FOLLOWING = """
const { BASE_URL, TOKEN } = process.env;
await follow(BASE_URL, TOKEN, async () => console.log('"loaded"'), (event) => {
  console.log(JSON.stringify(event));
  if (event.type === "conversation.deleted") process.exit();
});
"""

pytestmark = [
    pytest.mark.usefixtures("committed"),
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed."),
]


def begin_and_delete(web: Web, user: User) -> None:
    headers = authorization(user)
    path = f"{web.url}/api/conversations"
    conversation = httpx.post(path, json={}, headers=headers).json()["id"]
    assert httpx.delete(f"{path}/{conversation}", headers=headers).status_code == 204


def following(web: Web, folder: Path, token: str) -> "subprocess.Popen[str]":
    """A program that follows until a conversation is deleted, and prints what it is told."""
    [example] = examples(section(PAGE, "The stream of a user"), "js")
    (folder / "follow.mjs").write_text(example + FOLLOWING)
    return subprocess.Popen(
        ["node", "--experimental-websocket", "follow.mjs"],
        cwd=folder,
        env={**inherited(), "BASE_URL": web.url, "TOKEN": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_comes_after_the_lists_were_loaded_is_told_and_nothing_before(
    web: Web, tmp_path: Path
) -> None:
    alice = new_user("alice")
    begin_and_delete(web, alice)
    with following(web, tmp_path, access_token_of(alice)) as program:
        assert program.stdout
        assert json.loads(program.stdout.readline()) == "loaded"
        begin_and_delete(web, alice)
        written, complaints = program.communicate(timeout=30)
    assert program.returncode == 0, complaints
    received: list[dict[str, Any]] = [json.loads(line) for line in written.splitlines()]
    assert [event["type"] for event in received] == ["conversation.created", "conversation.deleted"]
    assert [event["seq"] for event in received] == [3, 4]


def test_who_is_refused_loads_and_follows_nothing(web: Web, tmp_path: Path) -> None:
    with following(web, tmp_path, "stale") as program:
        written, complaints = program.communicate(timeout=30)
    assert (written, program.returncode) == ("", 1)
    assert "Error: 401" in complaints
