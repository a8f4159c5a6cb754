"""docs/api/app.md: its example runs, its tables are those of the code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from accounts import tokens
from accounts.services.sessions import REFRESH_GRACE
from accounts.types import MAX_AGENT_INSTRUCTIONS
from apidocs.openapi.document import document
from billing import errors
from billing.errors import PaymentRequired
from billing.models import LedgerEntry
from billing.serializers.money import MAX_TOPUP_USD, MIN_TOPUP_USD
from common.multipart import MAX_FILE_BYTES
from common.pagination import MAX_LIMIT
from conversations.types import (
    MAX_CHARACTERS,
    MAX_CONVERSATIONS,
    MAX_CONVERSATIONS_PER_DAY,
    MAX_MESSAGES,
    MAX_SPACES,
)
from council.diffs import MAX_PIECES
from council.services.estimates import BYTES_PER_TOKEN, EXPECTED_OUTPUT_TOKENS
from council.types import (
    MAX_CARDS,
    MAX_CARDS_EVER,
    MAX_ROUNDS,
    MAX_SESSIONS_PER_DAY,
    MAX_VERSIONS,
)
from devserver.paths import ROOT
from events.inbox import MAX_UNREAD
from media.files.types import MAX_UPLOADS, UPLOAD_SECONDS
from projects import types as projects
from server.file_bodies import PACE
from simulator.process import RunningSimulator
from tests.documents import assert_same, examples, rows, section
from tests.personas import PASSWORD, new_user
from tests.service import Web, running_web
from tests.worker import running_worker

PAGE = ROOT / "docs" / "api" / "app.md"
PROJECTS = ROOT / "docs" / "api" / "projects.md"
WORKSPACES = ROOT / "docs" / "api" / "workspaces.md"
CONNECTORS = ROOT / "docs" / "api" / "connectors.md"
CONTENT = ROOT / "docs" / "api" / "content.md"


def test_the_quick_start_signs_in_tops_up_and_lists(
    committed: None, simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="max")
    _, example = examples(section(PAGE, "Quick start"), "sh")
    with running_web(simulator, SELF_SERVICE_TOPUP="1") as web:
        done = _run(example, web, alice.email, tmp_path)
    assert '"plan":"max"' in done.stdout
    assert '"kind":"topup","amount_usd":10.0' in done.stdout
    assert LedgerEntry.objects.get(account=alice).delta == 10_000_000_000


def test_a_council_is_held_and_merged(
    committed: None, simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="max", balance_usd=1)
    _, quick_start = examples(section(PAGE, "Quick start"), "sh")
    [example] = examples(section(PAGE, "Councils"), "sh")
    sign_in, _, _ = quick_start.partition("\n\n")
    with running_web(simulator) as web, running_worker(simulator):
        done = _run(f"{sign_in}\n{example}", web, alice.email, tmp_path)

    assert '"at_most_usd"' in done.stdout
    assert "# Why is the sea blue?" in done.stdout
    assert "## Sources" in done.stdout


def test_a_run_is_carried_out_and_its_text_is_taken(
    committed: None, simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="max", balance_usd=20)
    _, quick_start = examples(section(PAGE, "Quick start"), "sh")
    [example] = examples(section(PROJECTS, "A worked example"), "sh")
    sign_in, _, _ = quick_start.partition("\n\n")
    with running_web(simulator) as web, running_worker(simulator):
        done = _run(f"{sign_in}\n{example}", web, alice.email, tmp_path)

    assert "completed {'done': 6, 'total': 6}" in done.stdout
    assert '"path":"index.html"' in done.stdout
    assert "## The range of goods" in done.stdout


def test_a_question_is_answered_and_shared_and_a_file_goes_with_another(
    committed: None, simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="max", balance_usd=1)
    _, quick_start = examples(section(PAGE, "Quick start"), "sh")
    [conversation] = examples(section(PAGE, "Conversations"), "sh")
    [upload] = examples(section(PAGE, "Uploads"), "sh")
    sign_in, _, _ = quick_start.partition("\n\n")
    with running_web(simulator, UPLOADS_DIR=str(tmp_path / "uploads")) as web:
        done = _run(f"{sign_in}\n{conversation}\n{upload}", web, alice.email, tmp_path)

    assert '"status":"completed"' in done.stdout
    assert '"role":"user","model":null,"content":"Why is the sea blue?"' in done.stdout
    assert "## gpt-6-luna" in done.stdout
    assert '"name":"sea.txt","mime":"text/plain","size":62' in done.stdout


def test_a_second_of_silence_is_written_down(
    committed: None, simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="max", balance_usd=1)
    _, quick_start = examples(section(PAGE, "Quick start"), "sh")
    [example] = examples(section(PAGE, "Speech to text"), "sh")
    sign_in, _, _ = quick_start.partition("\n\n")
    with running_web(simulator) as web:
        done = _run(f"{sign_in}\n{example}", web, alice.email, tmp_path)

    assert '"duration_seconds":1.0' in done.stdout
    assert '"seconds":1' in done.stdout


def test_a_google_token_is_made_on_the_spot(simulator: RunningSimulator) -> None:
    [example] = examples(section(PAGE, "A web app on this machine"), "sh")
    environment = {"PATH": os.environ["PATH"], "SIMULATOR_URL": simulator.url}
    done = subprocess.run(
        ["bash", "-ec", example],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert json.loads(done.stdout)["id_token"].count(".") == 2


@pytest.mark.parametrize(
    ("title", "prefix"),
    [
        ("Signing in", "/api/auth/"),
        ("You", "/api/users/"),
        ("API keys", "/api/keys"),
        ("Money", "/api/billing/"),
        ("Conversations", "/api/conversations"),
        ("Spaces", "/api/spaces"),
        ("Uploads", ("/api/uploads", "/api/files")),
        ("Speech to text", "/api/transcribe"),
        ("Agents", "/api/agents"),
        ("Councils", "/api/council/"),
        ("Endpoints", ("/api/project/sessions", "/api/project/deliverables")),
        ("Endpoints", "/api/project/workspaces"),
        ("Endpoints", "/api/connectors"),
        ("Endpoints", ("/api/flags", "/api/cms")),
    ],
)
def test_every_endpoint_is_listed_once_and_exists(
    title: str, prefix: str | tuple[str, ...]
) -> None:
    first = prefix if isinstance(prefix, str) else prefix[0]
    pages = {
        "/api/project/sessions": PROJECTS,
        "/api/project/workspaces": WORKSPACES,
        "/api/connectors": CONNECTORS,
        "/api/flags": CONTENT,
    }
    page = pages.get(first, PAGE)
    listed = [(row[0].lower(), row[1]) for row in rows(section(page, title))]

    existing = [
        (method, path)
        for path, operations in document()["paths"].items()
        if path.startswith(prefix)
        for method in operations
    ]

    assert_same(listed, existing, f"docs/api/{page.name}, {title}")


def test_every_header_that_a_page_may_read_is_named() -> None:
    [stated] = re.findall(
        r"may read (.+?), which", section(PAGE, "A web app on this machine"), re.DOTALL
    )

    named = re.findall(r"`([\w-]+)`", stated)

    exposed = settings.CORS_EXPOSE_HEADERS
    where = "docs/api/app.md, A web app on this machine"
    assert_same([name.lower() for name in named], exposed, where)


def test_every_status_of_an_error_is_explained() -> None:
    explained = {int(row[0]) for row in rows(section(PAGE, "Errors")) if row[0].isdigit()}

    operations = [
        operation
        for path, methods in document()["paths"].items()
        if path.startswith("/api/")
        for operation in methods.values()
    ]
    described = {int(status) for each in operations for status in each["responses"]}

    # Of no operation: it is what is answered where there is none.
    errors = {status for status in described if status >= 400} | {405}
    assert_same(explained, errors, "docs/api/app.md, Errors")


def test_every_code_of_a_402_is_explained() -> None:
    explained = {row[0] for row in rows(section(PAGE, "Errors")) if not row[0].isdigit()}

    codes = {
        error.code
        for error in vars(errors).values()
        if isinstance(error, type)
        and issubclass(error, PaymentRequired)
        and error not in (PaymentRequired, errors.SpendCapReached)  # that one is of /v1
    }

    assert_same(explained, codes, "docs/api/app.md, Errors: the table of 402")


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Signing in", f"lasts {tokens.ACCESS_LIFETIME.total_seconds() // 60:.0f} minutes"),
        ("Signing in", f"lasts {tokens.REFRESH_LIFETIME.days} days"),
        ("Signing in", f"within {REFRESH_GRACE.total_seconds():.0f} seconds"),
        ("Money", f"{MIN_TOPUP_USD:,} to {MAX_TOPUP_USD:,}"),
        ("Lists", f"at most {MAX_LIMIT} rows"),
        ("Conversations", f"at most {MAX_MESSAGES:,} messages and {MAX_CHARACTERS:,} characters"),
        ("Conversations", f"have {MAX_CONVERSATIONS:,} of them"),
        ("Spaces", f"have {MAX_SPACES} spaces"),
        ("Uploads", f"up to {MAX_FILE_BYTES // 10**6} MB"),
        ("Uploads", f"within {UPLOAD_SECONDS // 3600} hours"),
        ("Uploads", f"have {MAX_UPLOADS:,} files"),
        ("Speech to text", f"{MAX_FILE_BYTES // 10**6} MB and two hours"),
        ("Limits", f"at most {PACE.requests} files within an hour"),
        ("Agents", f"up to {MAX_AGENT_INSTRUCTIONS:,} characters"),
        ("Councils", f"1 to {MAX_CARDS} models"),
        ("Councils", f"at most {MAX_CARDS} cards that answer and {MAX_CARDS} that merge"),
        ("Councils", f"in its whole life {MAX_CARDS_EVER}"),
        ("Councils", f"up to {MAX_VERSIONS} versions"),
        ("Councils", f"1 to {MAX_ROUNDS} rounds"),
        ("Comparing", f"more than {MAX_PIECES:,} words"),
        ("What a council costs", f"an answer of {EXPECTED_OUTPUT_TOKENS} tokens"),
        ("What a council costs", f"at {BYTES_PER_TOKEN} bytes a token"),
        ("Limits", f"At most {settings.MAX_RUNNING_CALLS} calls of one user"),
        ("Limits", f"at most {MAX_SESSIONS_PER_DAY} councils within 24 hours"),
        ("Limits", f"at most {MAX_CONVERSATIONS_PER_DAY:,} conversations"),
    ],
)
def test_a_figure_is_that_of_the_code(title: str, words: str) -> None:
    assert words in re.sub(r"\s+", " ", section(PAGE, title))


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Endpoints", f"{projects.MAX_RUNS} of your runs run at once"),
        ("How a run goes", f"up to {projects.MAX_SUBTASKS} subtasks"),
        ("How a run goes", f"ask for {projects.MAX_REVISIONS} revisions"),
        ("How a run goes", f"Up to {MAX_UNREAD} may wait"),
        ("How a run goes", f"at most {projects.MAX_ATTEMPTS} times, and you write it at most"),
    ],
)
def test_a_figure_of_projects_is_that_of_the_code(title: str, words: str) -> None:
    assert words in re.sub(r"\s+", " ", section(PROJECTS, title))


def _run(example: str, web: Web, email: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Its output, run by somebody who has signed up, in an empty folder."""
    # `python3` is whatever runs these tests.
    (folder / "python3").symlink_to(sys.executable)
    return subprocess.run(
        ["bash", "-ec", example],
        cwd=folder,
        env={
            "PATH": f"{folder}:{os.environ['PATH']}",
            "BASE_URL": web.url,
            "EMAIL": email,
            "PASSWORD": PASSWORD,
        },
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
