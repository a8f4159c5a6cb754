"""What becomes of a run when providers fail, and when reviews are not content."""

import json

import pytest

from projects.models import Step
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import BALANCE_ONLY, Shape, part

REVISE = json.dumps(
    {
        "points": [{"point": "It is there.", "passed": False, "issue": "It is not."}],
        "verdict": "revise",
    }
)


def kinds(run: Shape) -> list[str]:
    return list(Step.objects.filter(run=run["id"]).order_by("id").values_list("kind", flat=True))


def verdicts(subtask: Shape) -> list[tuple[str, str]]:
    return [(each["reason"], each["verdict"]) for each in subtask["attempts"]]


# --- Reviews --------------------------------------------------------------------------------------


def test_the_reviewer_is_of_another_vendor_than_the_author(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a", model="gpt-6-luna"))
    work, review = Step.objects.filter(run=run["id"], kind__in=("work", "review")).order_by("id")
    assert work.model == "gpt-6-luna"
    assert not review.model.startswith("gpt")


def test_the_chosen_reviewer_reviews_what_other_vendors_wrote(principal: NewPrincipal) -> None:
    alice = principal()
    parts = (part("a", model="gpt-6-luna"), part("b", model="claude-haiku-5-5"))
    run = alice.finished(*parts, reviewer_model="claude-haiku-5-5")
    reviews = Step.objects.filter(run=run["id"], kind="review").order_by("subtask__key")
    assert reviews[0].model == "claude-haiku-5-5"
    assert not reviews[1].model.startswith("claude")


def test_a_single_vendor_reviews_itself(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), models=["gpt-6-luna"], planner_model="gpt-6-luna")
    assert run["status"] == "completed"
    assert {call["model"] for call in alice.calls()} == {"gpt-6-luna"}


def test_after_two_revisions_a_result_is_accepted_and_needs_attention(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), review={"text": REVISE}))
    [a] = run["subtasks"]
    assert verdicts(a) == [("initial", "revise"), ("revision", "revise"), ("revision", "revise")]
    assert (a["status"], a["needs_attention"], run["status"]) == ("completed", True, "completed")
    assert "A reviewer asks for changes" in alice.calls()[3]["user_text"]
    alice.check_money(run)


def test_a_revision_that_the_reviewer_likes_is_the_result(principal: NewPrincipal) -> None:
    """The simulator asks once for the tax."""
    alice = principal()
    run = alice.finished(part("a", title="Prices"))
    [a] = run["subtasks"]
    assert verdicts(a) == [("initial", "revise"), ("revision", "accept")]
    assert a["needs_attention"] is False


@pytest.mark.parametrize(
    ("finish", "words"), [("length", "output limit"), ("content_filter", "filter of the provider")]
)
def test_an_answer_that_ends_early_says_so_and_needs_attention(
    principal: NewPrincipal, finish: str, words: str
) -> None:
    alice = principal()
    early = {"finish": finish}
    goal = alice.goal(part("a", model=BALANCE_ONLY), part("b", model=BALANCE_ONLY), work=early)
    run = alice.finished(goal=goal, planner_model=BALANCE_ONLY)
    assert [each["needs_attention"] for each in run["subtasks"]] == [True, True]
    cut = {each["subtask_id"]: each["is_cut"] for each in run["deliverables"]}
    assert cut == {None: False, **{each["id"]: True for each in run["subtasks"]}}
    path = f"/sessions/{run['id']}/subtasks/{run['subtasks'][0]['id']}"
    [fault] = alice.do("GET", path)["attempts"][0]["faults"]
    assert fault["path"] is None
    assert words in fault["message"]
    reviews = Step.objects.filter(run=run["id"], kind="review")
    assert all("faults" in review.result["sections"] for review in reviews)


def test_a_final_text_that_ends_early_says_so(principal: NewPrincipal) -> None:
    alice = principal()
    goal = alice.goal(part("a"), part("b"), final={"finish": "length"})
    run = alice.finished(goal=goal, planner_model=BALANCE_ONLY)
    cut = {each["subtask_id"]: each["is_cut"] for each in run["deliverables"]}
    assert cut == {None: True, **{each["id"]: False for each in run["subtasks"]}}


def test_a_review_that_fails_or_says_nothing_holds_nothing_up(principal: NewPrincipal) -> None:
    for options in ({"text": "Nice."}, {"status": 400}):
        alice = principal()
        run = alice.finished(goal=alice.goal(part("a"), review=options))
        [a] = run["subtasks"]
        assert verdicts(a) == [("initial", "unavailable")]
        assert (a["status"], a["needs_attention"]) == ("completed", True)


def test_without_reviews_nobody_reviews(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), part("b", "a"), review=False)
    assert kinds(run) == ["plan", "work", "work", "final"]


# --- Failures -------------------------------------------------------------------------------------


def test_a_subtask_whose_provider_fails_fails_alone(principal: NewPrincipal) -> None:
    alice = principal()
    parts = (part("a", model="claude-haiku-5-5"), part("b", "a"), part("c", model="gpt-6-luna"))
    goal = alice.also(alice.goal(*parts), step="work", model="claude-haiku-5-5", status=400)
    run = alice.finished(goal=goal)
    assert [each["status"] for each in run["subtasks"]] == ["failed", "skipped", "completed"]
    assert (run["status"], run["failed_subtasks"]) == ("completed", 2)
    assert run["subtasks"][0]["error"]["code"] == "invalid_body"
    assert run["progress"] == {"done": 3, "total": 3}
    alice.check_money(run)


def test_a_run_without_any_result_has_failed(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), part("b"), work={"status": 400}))
    assert (run["status"], run["error"]["code"]) == ("failed", "no_subtask_completed")
    assert run["failed_subtasks"] == 2


def test_a_run_whose_final_text_fails_has_failed_and_keeps_its_results(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), part("b"), final={"status": 400}))
    assert (run["status"], run["error"]["code"]) == ("failed", "final_failed")
    assert {each["name"] for each in run["deliverables"]} == {"Part a", "Part b"}


def test_a_planner_that_cannot_be_reached_pauses_the_run_until_it_can(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), plan={"status": 400, "times": 1}))
    assert (run["status"], run["pause_reason"]) == ("paused", "provider_unavailable")
    assert run["cost_usd"] == 0
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    assert follower.pictures[-1]["status"] == "completed"


def test_a_failure_in_the_middle_of_an_answer_is_billed_and_fails_the_subtask(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    goal = alice.goal(part("a"), part("b"), work={})
    goal = alice.also(goal, step="work", subtask="Part a", fail="after", after_tokens=5)
    run = alice.finished(goal=goal)
    a = next(each for each in run["subtasks"] if each["key"] == "a")
    assert (a["status"], a["error"]["code"]) == ("failed", "upstream_error")
    assert a["cost_usd"] > 0
    assert run["status"] == "completed"
    alice.check_money(run)
