"""What becomes of a run when providers fail, and when reviews are not content."""

import json

import pytest

from events.models import Event
from projects.models import Attempt, Step
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import BALANCE_ONLY, Principal, Shape, part
from projects.types import MAX_CONTINUATIONS

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


def test_the_chosen_reviewer_reviews_though_the_run_may_not_call_it(
    principal: NewPrincipal,
) -> None:
    """As the chosen planner plans. The nearest vendor is not taken for it, nor the author."""
    alice = principal()
    models = ["gpt-6-luna", "claude-haiku-5-5"]
    parts = (part("a", model=models[0]), part("b", model=models[1]))
    run = alice.finished(*parts, models=models, reviewer_model="deepseek-v4-pro")
    work = Step.objects.filter(run=run["id"], kind="work").values_list("model", flat=True)
    reviews = Step.objects.filter(run=run["id"], kind="review").values_list("model", flat=True)
    assert {*work} == {*models}
    assert [*reviews] == ["deepseek-v4-pro"] * 2


def test_the_chosen_reviewer_reviews_its_own_vendor_only_where_there_is_no_other(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(part("a"), models=["gpt-6-luna"], reviewer_model="gpt-6.1-terra")
    [review] = Step.objects.filter(run=run["id"], kind="review")
    assert review.model == "gpt-6.1-terra"


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


def reasons(subtask: Shape) -> list[tuple[str, str]]:
    return [(each["reason"], each["status"]) for each in subtask["attempts"]]


def refused(alice: Principal) -> Shape:
    """The first model and its substitute refuse; the others do not. Counted apart from the rest."""
    return {"status": 400, "times": 2, "marker": f"{alice.marker}-refused"}


def retried(run: Shape) -> list[tuple[str, str, str]]:
    """The calls that were made again: kind of step, and models."""
    rows = Event.objects.filter(stream=run["id"], type="run.retrying").order_by("seq")
    found = [json.loads(data) for data in rows.values_list("data", flat=True)]
    return [(each["step"], each["from_model"], each["to_model"]) for each in found]


def without_a(alice: Principal) -> Shape:
    """A run whose part a nobody can do, on which b depends, and c does not."""
    goal = alice.goal(part("a"), part("b", "a"), part("c"), work={})
    return alice.finished(goal=alice.also(goal, step="work", subtask="Part a", status=400))


def control(alice: Principal, run: Shape, action: str) -> Shape:
    """The run when it stands again after that act."""
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action=action)
    return follower.pictures[-1]


def test_an_answer_that_breaks_off_is_tried_again_and_what_it_wrote_is_billed(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    goal = alice.goal(part("a"), part("b"), work={})
    broken = {"fail": "after", "after_tokens": 5, "times": 2, "marker": f"{alice.marker}-a"}
    run = alice.finished(goal=alice.also(goal, step="work", subtask="Part a", **broken))
    a, b = run["subtasks"]
    assert reasons(a) == [("initial", "failed"), ("retry", "failed"), ("retry", "completed")]
    assert all(each["cost_usd"] > 0 for each in a["attempts"])
    assert reasons(b) == [("initial", "completed")]
    assert run["status"] == "completed"
    alice.check_money(run)


def test_what_one_vendor_cannot_do_is_done_by_another(principal: NewPrincipal) -> None:
    alice = principal()
    parts = (part("a", model="claude-haiku-5-5"), part("b", "a", model="gpt-6-luna"))
    goal = alice.also(alice.goal(*parts), step="work", model="claude-haiku-5-5", status=503)
    run = alice.finished(goal=goal)
    a, b = run["subtasks"]
    assert reasons(a)[:3] == [("initial", "failed"), ("retry", "failed"), ("retry", "failed")]
    assert reasons(a)[3:] == [("fallback", "completed")]
    assert not a["model"].startswith("claude")
    assert a["assigned_by"] == "fallback"
    assert (b["status"], run["status"], run["failed_subtasks"]) == ("completed", "completed", 0)
    alice.check_money(run)


def test_what_a_model_refuses_it_is_not_asked_again(principal: NewPrincipal) -> None:
    alice = principal()
    goal = alice.goal(part("a", model="claude-haiku-5-5"))
    goal = alice.also(goal, step="work", model="claude-haiku-5-5", status=400)
    [a] = alice.finished(goal=goal)["subtasks"]
    assert reasons(a) == [("initial", "failed"), ("fallback", "completed")]


def test_a_part_that_nobody_can_do_pauses_the_run_and_costs_the_others_nothing(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    goal = alice.goal(part("a"), part("b", "a"), part("c"), work={})
    goal = alice.also(goal, step="work", subtask="Part a", **refused(alice))
    run = alice.finished(goal=goal)
    assert [each["status"] for each in run["subtasks"]] == ["failed", "queued", "completed"]
    assert (run["status"], run["pause_reason"]) == ("paused", "step_failed")
    assert run["error"]["code"] == "parts_missing"
    assert "“Part a”, “Part b”" in run["error"]["message"]
    assert run["subtasks"][0]["error"]["code"] == "invalid_body"
    rewrite = alice.send("POST", f"/sessions/{run['id']}/control", action="rewrite")
    assert (rewrite.status_code, rewrite.json()["code"]) == (409, "invalid_state")
    assert "Parts of this run have no result" in rewrite.json()["detail"]
    run = control(alice, run, "resume")
    assert {each["status"] for each in run["subtasks"]} == {"completed"}
    assert (run["status"], run["error"]) == ("completed", None)
    alice.check_money(run)


def test_a_run_is_completed_without_a_part_where_its_user_wants_that(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = without_a(alice)
    run = control(alice, run, "finish")
    assert [each["status"] for each in run["subtasks"]] == ["failed", "skipped", "completed"]
    assert (run["status"], run["failed_subtasks"]) == ("completed", 2)
    assert {each["name"] for each in run["deliverables"]} == {"Part c", run["title"]}
    alice.check_money(run)


def test_a_part_that_nobody_can_do_is_taken_off_the_plan(principal: NewPrincipal) -> None:
    alice = principal()
    run = without_a(alice)
    path = f"/sessions/{run['id']}/plan"

    refused = alice.send("PATCH", path, remove=["a"])
    assert (refused.status_code, refused.json()["code"]) == (422, "unsound_plan")
    assert 'depends on "a", which does not exist' in refused.json()["detail"]
    with alice.follow(run) as follower:
        shown = alice.do("PATCH", path, remove=["a"], change=[{"key": "b", "depends_on": []}])
        assert [each["status"] for each in shown["subtasks"]] == ["queued", "completed"]
        assert "“Part a”" not in shown["error"]["message"]
        assert "“Part b”" in shown["error"]["message"]
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")

    run = follower.pictures[-1]
    assert (run["status"], run["failed_subtasks"], run["error"]) == ("completed", 0, None)
    assert {each["name"] for each in run["deliverables"]} == {"Part b", "Part c", run["title"]}
    alice.check_money(run)


def test_parts_that_a_run_was_finished_without_are_taken_off_the_plan(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = without_a(alice)
    run = control(alice, run, "finish")
    assert [each["status"] for each in run["subtasks"]] == ["failed", "skipped", "completed"]
    with alice.follow(run) as follower:
        alice.do("PATCH", f"/sessions/{run['id']}/plan", remove=["a", "b"])
    run = follower.pictures[-1]
    assert [each["key"] for each in run["subtasks"]] == ["c"]
    assert (run["status"], run["failed_subtasks"]) == ("completed", 0)
    alice.check_money(run)


def test_a_run_whose_missing_part_its_user_has_written_names_it_no_more(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    goal = alice.goal(part("a"), part("b"), work={})
    run = alice.finished(goal=alice.also(goal, step="work", subtask="Part a", status=400))
    [a, _] = run["subtasks"]
    assert "“Part a”" in run["error"]["message"]
    alice.do("POST", f"/sessions/{run['id']}/replace", subtask_id=a["id"], content="Mine.")
    assert alice.do("GET", f"/sessions/{run['id']}")["error"] is None


def test_a_run_without_any_result_stands_and_cannot_be_finished(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), part("b"), work={"status": 400}))
    assert (run["status"], run["pause_reason"]) == ("paused", "step_failed")
    answer = alice.send("POST", f"/sessions/{run['id']}/control", action="finish")
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_completed")


def test_a_final_text_that_nobody_can_write_pauses_the_run_until_it_can(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    goal = alice.goal(part("a"), part("b"), final=refused(alice))
    run = alice.finished(goal=goal)
    assert (run["pause_reason"], run["error"]["code"]) == ("step_failed", "final_failed")
    assert {each["name"] for each in run["deliverables"]} == {"Part a", "Part b"}
    run = control(alice, run, "resume")
    assert (run["status"], run["error"]) == ("completed", None)
    alice.check_money(run)


def test_a_final_text_that_nobody_can_write_has_the_parts_where_the_user_finishes_the_run(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    goal = alice.goal(part("a"), part("b"), part("c"), work={}, final={"status": 400})
    run = alice.finished(goal=alice.also(goal, step="work", subtask="Part c", status=400))
    run = control(alice, run, "finish")
    assert (run["status"], run["error"]) == ("completed", None)
    assert {each["status"] for each in run["deliverables"]} == {"final"}
    first, second = (Attempt.objects.get(subtask=each["id"]) for each in run["subtasks"][:2])
    assert run["final_text"] == (
        "No model could write this text. It has the results of the parts.\n\n"
        f"## Part a\n\n{first.body}\n\n## Part b\n\n{second.body}\n\n"
        "Without a result:\n\n- Part c"
    )
    alice.check_money(run)


def test_the_final_text_is_written_again_where_its_user_wants_that(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = control(alice, alice.finished(part("a"), part("b")), "rewrite")
    assert run["status"] == "completed"
    assert kinds(run).count("final") == 2
    versions = {each["subtask_id"]: each["version"] for each in run["deliverables"]}
    assert versions == {None: 2, **{each["id"]: 1 for each in run["subtasks"]}}
    alone = alice.finished(part("a"))
    answer = alice.send("POST", f"/sessions/{alone['id']}/control", action="rewrite")
    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_state")


def test_another_vendor_plans_where_the_planner_cannot(principal: NewPrincipal) -> None:
    alice = principal()
    goal = alice.goal(part("a"), plan={"status": 400, "model": "gpt-6-luna"})
    run = alice.finished(goal=goal, planner_model="gpt-6-luna")
    assert run["status"] == "completed"
    [(step, before, after)] = retried(run)
    assert (step, before) == ("plan", "gpt-6-luna")
    assert not after.startswith("gpt")


def test_a_plan_that_nobody_can_make_pauses_the_run_until_somebody_can(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), plan=refused(alice)))
    assert (run["status"], run["pause_reason"]) == ("paused", "provider_unavailable")
    assert run["cost_usd"] == 0
    assert control(alice, run, "resume")["status"] == "completed"


# --- Cut answers ----------------------------------------------------------------------------------

LONG = " ".join(f"Line {number} of the sea." for number in range(400))  # 2,000 words


def test_a_cut_answer_is_continued_and_joined_exactly(principal: NewPrincipal) -> None:
    alice = principal()
    goal = alice.goal(part("a", model=BALANCE_ONLY), part("b"), work={})
    goal = alice.also(goal, step="work", subtask="Part a", text=LONG, cut=500)
    run = alice.finished(goal=goal)
    a = run["subtasks"][0]
    [attempt] = alice.do("GET", f"/sessions/{run['id']}/subtasks/{a['id']}")["attempts"]
    assert attempt["body"] == LONG
    assert (attempt["faults"], a["needs_attention"]) == ([], False)
    turns = Step.objects.filter(subtask=a["id"], kind="work")
    assert [turn.goes_on for turn in turns.order_by("id")] == [True] * 3 + [False]
    alice.check_money(run)


def test_a_cut_final_text_is_continued(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), part("b"), final={"text": LONG, "cut": 900}))
    [final] = [each for each in run["deliverables"] if each["subtask_id"] is None]
    assert (final["size"], final["is_cut"], final["version"]) == (len(LONG), False, 1)
    assert kinds(run).count("final") == 3


def test_a_cut_review_and_a_cut_reply_are_continued(principal: NewPrincipal) -> None:
    alice = principal()
    goal = alice.goal(
        part("a"), review={"text": REVISE, "cut": 10}, reply={"cut": 5}, work={"ttft_ms": 700}
    )
    run = alice.start(goal=goal)
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/message", content="Mind the whales.")
    [a] = follower.pictures[-1]["subtasks"]
    assert verdicts(a) == [("initial", "revise"), ("revision", "revise"), ("revision", "revise")]
    replies = [each for each in follower.pictures[-1]["messages"] if each["role"] == "planner"]
    assert [each["content"] for each in replies] == ["Understood: Mind the whales"]


def test_an_answer_is_not_continued_for_ever(principal: NewPrincipal) -> None:
    alice = principal()
    goal = alice.goal(part("a", model=BALANCE_ONLY), work={"text": LONG, "cut": 10})
    run = alice.finished(goal=goal, review=False)
    [a] = run["subtasks"]
    assert (a["status"], a["needs_attention"]) == ("completed", True)
    assert kinds(run).count("work") == 1 + MAX_CONTINUATIONS
    assert [each["is_cut"] for each in run["deliverables"]] == [True]
