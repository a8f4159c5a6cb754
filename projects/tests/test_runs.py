"""Whole runs, as their user sees them."""

from events.models import Event
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import part


def test_a_goal_becomes_a_plan_results_and_a_final_text(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), part("b", "a"))
    assert (run["status"], run["phase"]) == ("completed", "finalizing")
    assert [each["status"] for each in run["subtasks"]] == ["completed", "completed"]
    assert [each["name"] for each in run["deliverables"]] == ["Part a", "Part b", run["title"]]
    alice.check_money(run)


def test_a_run_of_one_part_ends_as_others_do(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"))
    assert (run["status"], run["phase"]) == ("completed", "finalizing")
    assert Event.objects.filter(stream=run["id"]).latest("seq").type == "run.completed"
    alice.check_money(run)
