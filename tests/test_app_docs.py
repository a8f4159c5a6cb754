"""docs/api/app.md: its example runs, its tables are those of the code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from accounts import tokens
from accounts.services.sessions import REFRESH_GRACE
from billing import errors
from billing.errors import PaymentRequired
from billing.models import LedgerEntry
from billing.serializers import MAX_TOPUP_USD, MIN_TOPUP_USD
from common.local.paths import ROOT
from common.pagination import MAX_LIMIT
from config.openapi import document
from simulator.process import RunningSimulator
from tests.documents import examples, rows, section
from tests.personas import PASSWORD, new_user
from tests.service import running_web

PAGE = ROOT / "docs" / "api" / "app.md"


def test_the_quick_start_signs_in_tops_up_and_lists(
    committed: None, simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="max")
    _, example = examples(section(PAGE, "Quick start"), "sh")
    # `python3` is whatever runs these tests.
    (tmp_path / "python3").symlink_to(sys.executable)
    with running_web(simulator, SELF_SERVICE_TOPUP="1") as web:
        done = subprocess.run(
            ["bash", "-ec", example],
            cwd=tmp_path,
            env={
                "PATH": f"{tmp_path}:{os.environ['PATH']}",
                "BASE_URL": web.url,
                "EMAIL": alice.email,
                "PASSWORD": PASSWORD,
            },
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert '"plan":"max"' in done.stdout
    assert '"kind":"topup","amount_usd":10.0' in done.stdout
    assert LedgerEntry.objects.get(account=alice).delta == 10_000_000_000


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
    ],
)
def test_every_endpoint_is_listed_once_and_exists(title: str, prefix: str) -> None:
    listed = [(row[0].lower(), row[1]) for row in rows(section(PAGE, title))]

    existing = [
        (method, path)
        for path, operations in document()["paths"].items()
        if path.startswith(prefix)
        for method in operations
    ]

    assert sorted(listed) == sorted(existing)


def test_every_code_of_a_402_is_explained() -> None:
    explained = {row[0] for row in rows(section(PAGE, "Errors")) if not row[0].isdigit()}

    codes = {
        error.code
        for error in vars(errors).values()
        if isinstance(error, type)
        and issubclass(error, PaymentRequired)
        and error not in (PaymentRequired, errors.SpendCapReached)  # that one is of /v1
    }

    assert explained == codes


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Signing in", f"lasts {tokens.ACCESS_LIFETIME.total_seconds() // 60:.0f} minutes"),
        ("Signing in", f"lasts {tokens.REFRESH_LIFETIME.days} days"),
        ("Signing in", f"within {REFRESH_GRACE.total_seconds():.0f} seconds"),
        ("Money", f"{MIN_TOPUP_USD:,} to {MAX_TOPUP_USD:,}"),
        ("Lists", f"at most {MAX_LIMIT} rows"),
    ],
)
def test_a_figure_is_that_of_the_code(title: str, words: str) -> None:
    assert words in re.sub(r"\s+", " ", section(PAGE, title))
