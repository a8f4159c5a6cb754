"""`manage.py create_demo_runs` beside a simulator: the run on a repository."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from demo.library import FILES, REPOSITORY, RESOLVED
from demo.repository import TOKEN, write_repository_run
from demo.tests.repository_run import check_repository_run
from integrations.githosts.tests.hosted import git
from projects.models import Run
from projects.services.applies import apply_changes
from projects.tests.world import check_log
from simulator.process import RunningSimulator
from tests.personas import authorization, new_user


@pytest.fixture
def alice(committed: None, providers: None) -> User:
    return new_user("alice", plan="max", balance_usd=50)


def test_it_shows_a_tool_loop_a_fallback_and_a_merge_and_its_other_files_can_be_applied(
    alice: User, simulator: RunningSimulator, client: Client, tmp_path: Path
) -> None:
    run = write_repository_run(alice, simulator.url)
    assert run is not None
    assert write_repository_run(alice, simulator.url) is None
    headers = authorization(alice)

    def read(path: str) -> Any:
        return client.get(f"/api/project/sessions{path}", headers=headers).json()

    check_repository_run(read)
    check_log(Run.objects.get(pk=run.pk))

    order, _ = apply_changes(user=alice, run_id=run.pk, request_key=None)

    assert {file["path"]: file["status"] for file in order.files} == {
        "basket.js": "applied",
        "prices.csv": "applied",
    }
    main, branch = _clone(simulator, tmp_path, "main"), _clone(simulator, tmp_path, order.branch)
    assert (main / "index.html").read_text() == RESOLVED
    assert git(main, "log", "--format=%an").splitlines()[:2] == ["Alice", "Alice"]
    assert git(main, "ls-files", "--stage", "serve.sh").startswith("100755")
    assert sorted(git(branch, "ls-files").splitlines()) == sorted(
        [*FILES, "basket.js", "prices.csv"]
    )


def _clone(simulator: RunningSimulator, folder: Path, branch: str) -> Path:
    url = f"{simulator.url}/github/{REPOSITORY}.git".replace("//", f"//demo:{TOKEN}@", 1)
    into = folder / branch.replace("/", "-")
    git(folder, "clone", "--quiet", "--branch", branch, url, str(into))
    return into
