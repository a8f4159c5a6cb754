"""`manage.py create_demo_runs`: the runs that `make run` seeds."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from accounts.models import User
from ai.catalog.selectors import get_catalog
from billing.services.reconciliation import find_violations
from projects.models import Run
from projects.selectors.runs import snapshot_of
from projects.services.estimates import estimate
from projects.tests.world import check_log
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
