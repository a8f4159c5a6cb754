"""What a run costs, and what it does when money runs out."""

from billing.models import ChargeGroup, Wallet
from events.models import Event
from projects.models import Step
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import BALANCE_ONLY, part
from tests.follow import wait_until


def test_an_empty_balance_pauses_the_run_and_a_top_up_lets_it_go_on(
    principal: NewPrincipal,
) -> None:
    """The plan is made by a model of the plan's allowance; the work is paid by the balance."""
    alice = principal(balance_cents=0)
    run = alice.finished(part("a", model=BALANCE_ONLY), planner_model="gpt-6-luna")
    assert (run["status"], run["pause_reason"]) == ("paused", "insufficient_balance")
    assert run["activity"] == "Paused: plan and balance do not cover the next step."
    [a] = run["subtasks"]
    assert (a["status"], a["attempts"], a["cost_usd"]) == ("queued", [], 0)
    alice.check_money(run)
    alice.top_up(5_000)
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert (last["status"], last["pause_reason"]) == ("completed", None)
    alice.check_money(last)


def test_a_budget_bounds_what_a_run_costs(principal: NewPrincipal) -> None:
    """What is left after some steps is not enough for a useful answer."""
    alice = principal()
    goal = alice.goal(*(part(key, model=BALANCE_ONLY) for key in "abcd"), work={"tokens": 4_000})
    run = alice.finished(goal=goal, planner_model="gpt-6-luna", budget_usd=0.2)
    assert (run["status"], run["pause_reason"]) == ("paused", "budget_exceeded")
    group = ChargeGroup.objects.get(pk=run["id"])
    assert group.budget == 200_000_000
    assert group.billed <= group.budget
    assert group.held == 0
    assert run["budget_usd"] == 0.2
    assert run["cost_usd"] <= 0.2
    alice.check_money(run)


def test_a_step_waits_for_the_money_that_others_hold(principal: NewPrincipal) -> None:
    """One worst case at a time fits into the budget, so the parts come one after the other."""
    alice = principal()
    parts = [part(key, model=BALANCE_ONLY) for key in "abcd"]
    goal = alice.goal(*parts, work={"ttft_ms": 500})
    one_and_a_half = 0.6
    run = alice.finished(
        goal=goal, planner_model="gpt-6-luna", budget_usd=one_and_a_half, review=False
    )
    work = Step.objects.filter(run=run["id"], kind="work")
    assert {each["status"] for each in run["subtasks"]} == {"completed"}
    assert work.filter(outcome="refused", beside_others=True).exists()
    assert run["status"] in ("completed", "paused")  # the final text may not fit any more
    alice.check_money(run)


def test_the_free_plan_has_no_runs(principal: NewPrincipal) -> None:
    alice = principal(plan="free")
    refused = alice.send("POST", "/sessions", prompt=alice.goal(part("a")))
    assert refused.status_code == 402
    assert refused.json()["detail"]["code"] == "plan_required"
    assert refused.json()["detail"]["feature"] == "projects"


def test_a_run_whose_plan_cannot_be_paid_does_not_begin(principal: NewPrincipal) -> None:
    alice = principal(balance_cents=0)
    body = {"prompt": alice.goal(part("a")), "planner_model": BALANCE_ONLY}
    refused = alice.send("POST", "/sessions", **body)
    assert refused.status_code == 402
    assert refused.json()["detail"]["code"] == "insufficient_balance"
    assert alice.do("GET", "/sessions") == []


def test_a_deleted_run_is_stopped_and_what_it_has_cost_stays(principal: NewPrincipal) -> None:
    alice = principal()
    slow = {"delay_ms": 40, "tokens": 60}
    run = alice.start(goal=alice.goal(part("a"), part("b"), work=slow))

    def shown() -> list[str]:
        row = alice.do("GET", f"/sessions/{run['id']}")
        return [each["text"] for each in row["subtasks"] if each["text"]]

    wait_until(lambda: bool(shown()))
    alice.do("DELETE", f"/sessions/{run['id']}")
    assert alice.send("GET", f"/sessions/{run['id']}").status_code == 404
    assert not Event.objects.filter(stream=run["id"]).exists()
    wait_until(lambda: Wallet.objects.get(account=alice.user).open_charges == 0)
    assert alice.do("GET", "/sessions") == []
