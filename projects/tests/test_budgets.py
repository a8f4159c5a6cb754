"""PATCH /api/project/sessions/{id} {budget_usd}: more money for a run, or less, or no bound."""

import math

import pytest

from billing.models import Charge, ChargeGroup
from projects.models import Run
from projects.services.settings import change_settings
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import BALANCE_ONLY, Principal, Shape, part
from projects.tests.world import World


def change(alice: Principal, run: Shape, budget_usd: object) -> Shape:
    shown: Shape = alice.do("PATCH", f"/sessions/{run['id']}", budget_usd=budget_usd)
    return shown


def costly(alice: Principal) -> str:
    """A goal whose parts cost more than 20 cents."""
    parts = [part(key, model=BALANCE_ONLY) for key in "abcd"]
    return alice.goal(*parts, work={"tokens": 4_000})


def test_a_run_whose_budget_was_too_small_goes_on_with_another(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(goal=costly(alice), planner_model="gpt-6-luna", budget_usd=0.2)
    assert (run["status"], run["pause_reason"]) == ("paused", "budget_exceeded")
    assert run["advice"] == "Raise the budget, and resume."
    with alice.follow(run) as follower:
        raised = change(alice, run, 20)
        assert (raised["status"], raised["budget_usd"]) == ("paused", 20)
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert (last["status"], last["advice"]) == ("completed", None)
    group = ChargeGroup.objects.get(pk=run["id"])
    assert (group.held, group.budget) == (0, 20 * 10**9)
    alice.check_money(last)


def test_a_run_is_finished_when_an_answer_cannot_be_paid(principal: NewPrincipal) -> None:
    alice = principal()
    parts = [part(key, model=BALANCE_ONLY) for key in "ab"]
    run = alice.finished(*parts, planner_model=BALANCE_ONLY, budget_usd=20)
    change(alice, run, math.ceil(run["cost_usd"] * 100) / 100)
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/message", content="Thank you.")
    paused = follower.pictures[-1]
    assert (paused["status"], paused["pause_reason"]) == ("paused", "budget_exceeded")
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="finish")
    last = follower.pictures[-1]
    assert last["status"] == "completed"
    assert last["final_text"] == run["final_text"]
    alice.check_money(last)


def test_it_is_not_set_below_what_the_run_has_cost(principal: NewPrincipal) -> None:
    alice = principal()
    parts = [part(key, model=BALANCE_ONLY) for key in "ab"]
    run = alice.finished(*parts, planner_model="gpt-6-luna", budget_usd=20)
    assert run["cost_usd"] > 0.01
    refused = alice.send("PATCH", f"/sessions/{run['id']}", title="Whales", budget_usd=0.01)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["loc"][-1] == "budget_usd"
    least = f"{math.ceil(run['cost_usd'] * 100) / 100:.2f}"
    assert f"its budget is at least ${least}." in refused.json()["detail"]
    shown = alice.do("GET", f"/sessions/{run['id']}")
    assert shown == run, "no part of it is done"
    assert change(alice, run, float(least))["budget_usd"] == float(least)


@pytest.mark.parametrize("budget", [0, -1, 0.001, "5", True, 10_001, [], {}])
def test_a_budget_is_an_amount_in_whole_cents(principal: NewPrincipal, budget: object) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True, budget_usd=5)
    assert alice.send("PATCH", f"/sessions/{run['id']}", budget_usd=budget).status_code == 422


def test_a_budget_that_comes_later_counts_what_was_before(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(goal=costly(alice), planner_model="gpt-6-luna", approve_plan=True)
    change(alice, run, 0.2)
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert (last["status"], last["pause_reason"]) == ("paused", "budget_exceeded")
    assert 0 < last["cost_usd"] <= 0.2
    alice.check_money(last)


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
def test_calls_of_the_former_release_without_a_group_count_as_well() -> None:
    world = World(max_parallel=1, budget_usd=None, approve_plan=True)
    world.end(0, "good")
    cost = ChargeGroup.objects.get(pk=world.run.pk).billed
    assert cost == 2_000_000
    forget_the_group(world)
    change_settings(user=world.alice, run_id=world.run.pk, budget=10_000_000)
    assert ChargeGroup.objects.get(pk=world.run.pk).budget == 10_000_000 - cost
    assert Run.objects.get(pk=world.run.pk).budget == 10_000_000


def forget_the_group(world: World) -> None:
    """As if its calls had been made before runs without a budget had groups."""
    Charge.objects.filter(group_id=world.run.pk).update(group_id=None)
    ChargeGroup.objects.filter(pk=world.run.pk).delete()
