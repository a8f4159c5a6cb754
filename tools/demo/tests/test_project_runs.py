"""`manage.py create_demo_runs`: the runs that `make run` seeds."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from accounts.models import User
from ai.catalog.selectors import get_catalog
from billing.services.reconciliation import find_violations
from demo.repository import REPOSITORY, TOKEN, write_repository_run
from integrations.githosts.tests.hosted import git
from projects.models import Run
from projects.selectors.changes import get_changes
from projects.selectors.runs import snapshot_of
from projects.services.applies import apply_changes
from projects.services.estimates import estimate
from projects.tests.world import check_log
from simulator.process import RunningSimulator
from tests.personas import new_user
from work.jobs.models import Job


@pytest.fixture
def alice(db: None, providers: None, settings: Settings) -> User:
    settings.DEMO_SEEDS = True
    return new_user("alice", plan="max", balance_usd=50)


def create_demo_runs(email: str) -> str:
    said = StringIO()
    call_command("create_demo_runs", email, stdout=said)
    return said.getvalue()


def test_three_runs_are_finished_and_the_plan_of_one_waits(alice: User) -> None:
    assert create_demo_runs(alice.email) == f"Wrote 4 project runs of {alice.email}.\n"
    runs = Run.objects.filter(account=alice).order_by("id")
    assert [(run.status, run.pause_reason) for run in runs] == [
        *[("completed", "")] * 3,
        ("paused", "plan_review"),
    ]
    assert not Job.objects.filter(account=alice, ended_at=None).exists()
    assert find_violations() == []


def test_models_of_several_vendors_work_on_them_and_one_is_asked_for_a_change(alice: User) -> None:
    create_demo_runs(alice.email)
    models = get_catalog().models
    for run in Run.objects.filter(account=alice):
        rows = run.rows.subtasks.values()
        assert len({models[row.model].owned_by for row in rows}) >= 3
    shop = Run.objects.filter(account=alice).earliest("id")
    assert "revise" in {attempt.verdict for attempt in shop.rows.attempts.values()}
    assert snapshot_of(shop).cost > 0


def test_their_logs_tell_what_is_shown(alice: User) -> None:
    create_demo_runs(alice.email)
    for run in Run.objects.filter(account=alice):
        check_log(run)


def test_they_cost_what_the_estimate_allows_for(alice: User) -> None:
    create_demo_runs(alice.email)
    for run in Run.objects.filter(account=alice, status="completed"):
        expected = estimate(
            user=alice,
            goal=run.goal,
            reviews=True,
            max_subtasks=run.max_subtasks,
            max_parallel=run.max_parallel,
        )
        assert expected.low < snapshot_of(run).cost < expected.high


def test_who_has_runs_or_no_model_gets_none(alice: User, settings: Settings) -> None:
    create_demo_runs(alice.email)
    assert create_demo_runs(alice.email) == ""
    settings.PROVIDERS = {}
    assert create_demo_runs(new_user("bob", plan="max").email) == ""
    assert Run.objects.count() == 4


def test_it_is_for_development_and_for_accounts_that_are_there(
    alice: User, settings: Settings
) -> None:
    with pytest.raises(CommandError, match="No account has the address"):
        create_demo_runs("nobody@example.com")
    settings.DEMO_SEEDS = False
    with pytest.raises(CommandError, match="Demo runs are off here"):
        create_demo_runs(alice.email)


# --- The run on a repository ----------------------------------------------------------------------


def test_one_run_on_a_repository_has_staged_files_that_can_be_applied(
    committed: None, providers: None, simulator: RunningSimulator, tmp_path: Path
) -> None:
    demo = new_user("demo", plan="max", balance_usd=50)
    run = write_repository_run(demo, simulator.url)
    assert run is not None
    assert write_repository_run(demo, simulator.url) is None
    run.refresh_from_db()
    assert run.status == "completed"
    changes = get_changes(demo, run.pk)
    ops = {change.path: change.op for change in changes.files}
    assert changes.state == "staged"
    assert ops["index.html"] == "update"
    assert "create" in ops.values()

    order, _ = apply_changes(user=demo, run_id=run.pk, request_key=None)

    assert {file["status"] for file in order.files} == {"applied"}
    url = f"{simulator.url}/github/{REPOSITORY}.git".replace("//", f"//demo:{TOKEN}@", 1)
    git(tmp_path, "clone", "--quiet", "--branch", order.branch, url, "clone")
    names = git(tmp_path / "clone", "diff", "--name-only", "HEAD~1").splitlines()
    assert names == sorted(ops)
    assert git(tmp_path / "clone", "ls-files", "--stage", "serve.sh").startswith("100755")
