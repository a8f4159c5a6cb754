"""docs/api/transport.ts and the component of docs/api/chat.md, as they stand there: type-checked,
and driven as front ends drive them, in Node and in a browser."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from billing.models import Charge
from billing.selectors.charges import get_usage
from common.money import usd
from conversations.models import Conversation, Message
from conversations.tests import rows as rows_of
from devserver.paths import ROOT
from devserver.throwaway import MARK
from media.files.models import Upload
from publicapi.tests.v1.customer import Customer
from tests.chaos.calls import wait_for
from tests.clients import page
from tests.clients.conftest import Run
from tests.clients.environments import PROGRAMS, node_client
from tests.documents import examples, section
from tests.personas import new_user
from tests.service import Web
from tests.talk import MODEL, Talk

FOLDER = PROGRAMS / "ai_sdk"
MODULES = FOLDER / "node_modules"
DOCUMENTS = ROOT / "docs" / "api"
LONG: dict[str, Any] = {"tokens": 400, "delay_ms": 20}

pytestmark = node_client("ai_sdk", "The Vercel AI SDK")

Shape = dict[str, Any]
Drive = Callable[..., Shape]


@pytest.fixture(scope="module")
def front_end(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A front end's sources: what the documents have, and those who use it."""
    folder = tmp_path_factory.mktemp("front_end")
    for name in ("front_end.ts", "page.tsx", "tsconfig.json"):
        shutil.copy(FOLDER / name, folder)
    shutil.copy(DOCUMENTS / "transport.ts", folder)
    component, _ = examples(section(DOCUMENTS / "chat.md", "With the AI SDK"), "tsx")
    (folder / "chat.tsx").write_text(component)
    (folder / "node_modules").symlink_to(MODULES)
    return folder


@pytest.fixture
def talk(alice: Customer) -> Talk:
    """With which contents are made: what alice says here is said in conversations of its own."""
    return Talk(alice.user, marker=alice.marker)


@pytest.fixture
def drive(run: Run, web: Web, front_end: Path, talk: Talk) -> Drive:
    """Has one of the cases of front_end.ts done by alice, with these contents."""

    def drive(name: str, *contents: str, token: str = talk.token) -> Shape:
        program = front_end / "front_end.mjs"
        if not program.exists():
            page.bundle(front_end / "front_end.ts", program, "--platform=node")
        output = run("node", program, name, *contents, BASE_URL=web.url, TOKEN=token, MODEL=MODEL)
        seen: Shape = json.loads(output)
        assert seen["failures"] == []
        return seen

    return drive


@pytest.mark.skipif(
    not (MODULES / ".bin" / "tsc").exists(),
    reason="TypeScript is not installed: run `make clients`.",
)
def test_what_the_documents_have_is_of_the_types_of_the_sdk(front_end: Path) -> None:
    done = execute(front_end, MODULES / ".bin" / "tsc", "--project", front_end)

    assert (done.stdout, done.returncode) == ("", 0)


def test_an_edited_message_takes_the_place_of_the_first(drive: Drive, talk: Talk) -> None:
    words = [talk.content(said, tokens=3) for said in ("Why? " * 1000, "How deep?", "How wide?")]

    seen = drive("edited", *words)

    [one, first, two, second, again, three, third] = rows(seen)
    assert {each.parent_id for each in (one, two, three)} == {None}
    assert [each.parent for each in (first, second, again, third)] == [one, two, two, three]
    assert [each.content for each in (one, two, three)] == words
    assert [each.context["messages"] for each in (first, second, again, third)] == [1] * 4
    assert Charge.objects.get(pk=first.pk).tokens_in > 1000
    assert max(Charge.objects.get(pk=each.pk).tokens_in for each in (second, again, third)) < 100
    assert ids(seen["before"])[1:] == [str(first.pk)]
    assert ids(seen["edited"])[1:] == [str(second.pk)]
    assert ids(seen["again"])[1:] == [str(again.pk)]
    assert ids(seen["twice"])[1:] == [str(third.pk)]


def test_so_it_does_in_a_conversation_that_was_loaded(drive: Drive, talk: Talk) -> None:
    words = [talk.content(said, tokens=3) for said in ("Why?", "How deep?")]

    seen = drive("loaded", *words)

    [one, first, two, second, again] = rows(seen)
    assert ids(seen["before"]) == [str(one.pk), str(first.pk)]
    assert [each.parent for each in (first, second, again)] == [one, two, two]
    assert two.parent is None
    assert ids(seen["loaded"]) == [str(two.pk), str(again.pk)]
    assert [texts(each) for each in (seen["again"], seen["loaded"])] == [
        [words[1], again.content]
    ] * 2


def test_an_answer_is_made_anew_with_and_without_an_id(drive: Drive, talk: Talk) -> None:
    seen = drive("regenerated", talk.content(tokens=3))

    [asked, *replies] = rows(seen)
    shown = [ids(seen[name])[-1] for name in ("one", "two", "three", "four")]
    assert shown == [str(each.pk) for each in replies]
    assert {each.parent for each in replies} == {asked}
    assert {each.model for each in replies} == {"claude-haiku-5-5"}


def test_a_stop_stops_the_reply_itself(drive: Drive, talk: Talk) -> None:
    seen = drive("stopped", talk.content(**LONG), talk.content(tokens=3))

    [_, stopped, follower, after] = rows(seen)
    assert (stopped.status, after.status) == ("cancelled", "completed")
    assert follower.parent == stopped
    assert seen["error"] == "undefined"
    assert texts(seen["stopped"])[-1] == stopped.content != ""
    charge = Charge.objects.get(pk=stopped.pk)
    assert charge.status == "settled"
    assert 0 < charge.tokens_out < LONG["tokens"]
    assert ids(seen["after"])[1::2] == [str(stopped.pk), str(after.pk)]
    usage = get_usage(talk.owner, [stopped.pk])[stopped.pk]
    metadata = seen["stopped"][-1]["metadata"]
    assert (metadata["status"], metadata["usage"]["listed_usd"]) == ("cancelled", usd(usage.cost))


def test_a_stop_while_nothing_runs_brings_nothing_back(drive: Drive, talk: Talk) -> None:
    seen = drive("stoppedWhileNothingRuns", talk.content(**LONG), talk.content(tokens=3))

    assert seen["branch"] == []
    assert ids(seen["after"]) == ids(seen["answered"])
    assert len(seen["after"]) == 2
    assert [each.status for each in rows(seen)][1::2] == ["cancelled", "cancelled", "completed"]


def test_so_it_does_before_anything_has_come(drive: Drive, talk: Talk) -> None:
    seen = drive("stoppedEarly", talk.content(**LONG), talk.content(tokens=3))

    *_, stopped, _, after = rows(seen)
    assert (stopped.status, after.status) == ("cancelled", "completed")
    assert seen["error"] == "undefined"
    assert texts(seen["after"])[3] == stopped.content
    assert ids(seen["after"])[1::2] == [str(each.pk) for each in rows(seen)[1::2]]


def test_what_is_stopped_before_it_was_sent_is_not_sent(drive: Drive, talk: Talk) -> None:
    seen = drive("stoppedAtOnce", talk.content(**LONG), talk.content(tokens=3))

    assert [each.content for each in rows(seen)][::2] == texts(seen["after"])[::3]
    assert [each.status for each in rows(seen)] == ["completed"] * 4


def test_an_answer_that_is_stopped_before_it_was_asked_for_is_not_asked_for(
    drive: Drive, talk: Talk
) -> None:
    seen = drive("regenerationStopped", talk.content(tokens=3))

    assert [each.status for each in rows(seen)] == ["completed"] * 2
    assert seen["error"] == "undefined"


def test_what_is_said_just_after_a_stop_waits_for_it(drive: Drive, talk: Talk) -> None:
    seen = drive("stoppedAndSent", talk.content(**LONG), talk.content(tokens=3))

    *_, stopped, _, after = rows(seen)
    assert (stopped.status, after.status) == ("cancelled", "completed")
    assert seen["error"] == "undefined"
    assert texts(seen["after"]) == [each.content for each in rows(seen)]


def test_the_oldest_message_that_was_loaded_is_edited_where_it_stands(
    drive: Drive, talk: Talk
) -> None:
    conversation = rows_of.talk(talk.owner, *["How deep?", "Deep."] * 60, model=MODEL)

    seen = drive("longAndEdited", talk.content(tokens=3), str(conversation.pk))

    edited, reply = rows(seen)[-2:]
    assert len(seen["before"]) == 100
    assert seen["before"][0]["id"] == str(rows(seen)[20].pk)
    assert edited.parent == rows(seen)[19]
    assert reply.context["messages"] == 21


def test_an_edited_message_is_deleted_by_the_id_that_the_transport_tells(
    drive: Drive, talk: Talk
) -> None:
    words = [talk.content(said, tokens=3) for said in ("Why?", "How deep?")]

    seen = drive("editedAndDeleted", *words)

    assert seen["status"] == 204
    assert [each.content for each in rows(seen)][:1] == words[:1]
    assert len(rows(seen)) == 2


def test_a_reply_is_followed_after_a_reload_and_stopped_there(drive: Drive, talk: Talk) -> None:
    seen = drive("resumed", talk.content(**LONG))

    [asked, reply] = rows(seen)
    assert ids(seen["loaded"]) == [str(asked.pk)]
    assert ids(seen["resumed"]) == ids(seen["followed"]) == [str(asked.pk), str(reply.pk)]
    # Resuming once more has not stopped it: that was done when something had come.
    assert (reply.status, len(reply.content) > 0) == ("cancelled", True)
    assert texts(seen["followed"])[-1] == reply.content
    assert texts(seen["resumed"])[-1] == reply.content


def test_files_go_with_a_message_and_with_its_edited_self(drive: Drive, talk: Talk) -> None:
    words = [talk.content(said, tokens=3) for said in ("Is it?", "Is it so?", "Is it thus?")]

    seen = drive("withFiles", *words)

    asked = [each for each in rows(seen) if each.role == "user"]
    [upload] = Upload.objects.filter(account=talk.owner)
    assert (upload.name, upload.is_text) == ("sea.txt", True)
    files = [each.attachments.values_list("upload", flat=True).get() for each in asked]
    assert files == [upload.pk] * 3
    assert {each.context["attachments"][0]["characters"] for each in rows(seen)[1::2]} == {17}
    [file, words_shown] = seen["loaded"][0]["parts"]
    assert (file["filename"], file["mediaType"]) == ("sea.txt", "text/plain")
    assert words_shown["text"] == words[2]


def test_a_message_that_was_refused_can_be_tried_again(drive: Drive, talk: Talk) -> None:
    seen = drive("refused", talk.content(tokens=3), json.dumps({"model": "no-such-model"}))

    assert seen["refusal"]["status"] == 422
    [asked, reply] = rows(seen)
    assert texts(seen["before"]) == [asked.content]
    assert texts(seen["after"]) == [asked.content, reply.content]
    assert asked.client_id == ids(seen["before"])[0]


def test_whoever_cannot_pay_is_told_what_is_needed(drive: Drive) -> None:
    bob = Talk(new_user("bob", plan="max"))

    seen = drive("refused", "How deep?", "{}", token=bob.token)

    refusal = seen["refusal"]
    assert (refusal["status"], refusal["code"]) == (402, "insufficient_balance")
    assert refusal["message"] == refusal["fields"]["message"]
    assert refusal["fields"]["balance_usd"] == 0
    assert rows(seen) == []
    assert texts(seen["after"]) == texts(seen["before"]) == ["How deep?"]


def test_a_failure_is_told_and_can_be_tried_again(drive: Drive, talk: Talk) -> None:
    content = talk.content(text="one " * 9, fail="after", after_tokens=3, times=1)

    seen = drive("failed", content)

    [asked, failed, reply] = rows(seen)
    assert failed.error is not None
    assert seen["error"] == failed.error["message"]
    assert texts(seen["broken"]) == [asked.content, failed.content]
    assert texts(seen["after"]) == [asked.content, reply.content]


@page.needs_browser
def test_the_component_of_the_documents_works_as_it_is_printed(
    web: Web, front_end: Path, talk: Talk, page_port: int, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    shutil.copy(FOLDER / "chat.html", site)
    page.bundle(front_end / "page.tsx", site / "chat.js", "--jsx=automatic")
    task = {
        "baseURL": web.url,
        "token": talk.token,
        "model": MODEL,
        "first": talk.content("Is it?", tokens=3),
        "edited": talk.content("Is it so?", tokens=4),
        # Longer than a browser on a busy machine takes to leave the page and to come back.
        "long": talk.content("Tell me all.", tokens=LONG["tokens"], delay_ms=80),
        "failing": talk.content(tokens=9, fail="after", after_tokens=3),
    }

    seen = page.opened(site, "chat.html", task, profile=tmp_path / "profile", port=page_port)

    assert "problem" not in seen, seen
    [one, first, two, second, again, another, *rest] = rows({"begun": [seen["conversation"]]})
    [_, stopped, _, failed, _, last] = rest
    assert seen["sent"] == [task["first"], first.content]
    assert one.attachments.get().upload.name == "sea.txt"
    assert seen["cost"] == f"{usd(get_usage(talk.owner, [first.pk])[first.pk].cost)} USD"
    assert seen["edited"] == [task["edited"], second.content]
    assert two.attachments.get().upload == one.attachments.get().upload
    assert [each.parent for each in (two, second, again, another)] == [None, two, two, two]
    assert second.context["messages"] == 1
    assert stopped.status == last.status == "cancelled"
    assert seen["stopped"][-1] == stopped.content
    assert failed.error is not None
    assert seen["error"] == failed.error["message"]
    assert 0 < len(seen["left"][-1]) <= len(seen["resumed"][-1]) <= len(last.content)
    assert seen["resumed"][:-1] == seen["left"][:-1]
    assert seen["stoppedAgain"][:-1] == seen["resumed"][:-1]
    assert seen["title"] == Conversation.objects.get(pk=seen["conversation"]).title


def rows(seen: Shape) -> list[Message]:
    """The messages of the only conversation that was begun, the oldest first, when no reply is
    running: one that is asked to stop ends a moment later."""
    [conversation] = seen["begun"]
    found = Message.objects.filter(conversation=conversation).select_related("parent")
    wait_for(lambda: not found.filter(status=Message.Status.RUNNING).exists())
    return list(found.order_by("id"))


def ids(messages: list[Shape]) -> list[str]:
    return [message["id"] for message in messages]


def texts(messages: list[Shape]) -> list[str]:
    parts = [[each for each in message["parts"] if each["type"] == "text"] for message in messages]
    return ["".join(part["text"] for part in each) for each in parts]


def execute(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], MARK: os.environ[MARK]}
    return subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
