"""The check of the release before finds what that release cannot live with, and nothing else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devserver.paths import ROOT
from devserver.throwaway import MARK
from tests import former_release

pytestmark = pytest.mark.timeout(600)

HARMLESS = "ALTER TABLE accounts_user ADD COLUMN made_up integer"
HARMFUL = "ALTER TABLE accounts_user RENAME COLUMN name TO made_up"

MADE_UP = "0099_made_up"
MIGRATION = """
from django.db import migrations

class Migration(migrations.Migration):
    dependencies = [("accounts", {last!r})]
    operations = [migrations.RunSQL({sql!r})]
"""
# Short: it is about the check.
SMOKE_FILES = "accounts/tests/test_signup.py\n"

Check = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """The check, where the former release is this tree, and the later one has one migration
    more."""
    tree = tmp_path / "later"
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in files:
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    (tree / "tests" / "smoke_files.txt").write_text(SMOKE_FILES)
    somebody = ("-c", "user.name=Alice", "-c", "user.email=alice@example.com")
    for command in (("init", "-q"), ("add", "-A"), (*somebody, "commit", "-qm", "Release")):
        subprocess.run(["git", "-C", tree, *command], check=True)
    subprocess.run(["git", "-C", tree, "tag", "1.0.0"], check=True)
    (tree / "deploy" / former_release.NAME.name).write_text("1.0.0\n")

    def run(sql: str) -> subprocess.CompletedProcess[str]:
        migrations = tree / "accounts" / "migrations"
        last = max(path.stem for path in migrations.glob("0*.py") if path.stem != MADE_UP)
        (migrations / f"{MADE_UP}.py").write_text(MIGRATION.format(last=last, sql=sql))
        # A run of its own, with stores of its own.
        ours = ("DATABASE_URL", "REDIS_URL", MARK)
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in ours and not name.startswith("PYTEST_")
        }
        return subprocess.run(
            [sys.executable, "-m", "tests.former_release"],
            cwd=tree,
            env={**inherited, "PYTHONPATH": f"{tree}:{tree}/platform:{tree}/tools"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_release_lives_with_a_column_that_it_does_not_know(check: Check) -> None:
    ended = check(HARMLESS)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Smoke tests of 1.0.0" in ended.stdout
    assert " passed" in ended.stdout


def test_a_release_does_not_live_without_a_column_that_it_reads(check: Check) -> None:
    ended = check(HARMFUL)
    assert ended.returncode == 1
    assert 'column "name" of relation "accounts_user" does not exist' in ended.stdout


def test_the_smoke_tests_of_this_release_exist() -> None:
    files = (ROOT / "tests" / "smoke_files.txt").read_text().split()
    assert files == sorted(set(files))
    assert [name for name in files if not (ROOT / name).exists()] == []
