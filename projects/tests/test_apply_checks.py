"""POST /changes/apply: what is checked before anything is written, and in which order."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from projects.models import Apply, AttemptFile, Run, Subtask
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Shape, part
from projects.tests.reviewer import CHANGES, Reviewer
from projects.types import RunStatus
from tests.follow import wait_until


def stage_many(run: Shape, number: int, content: str = "x\n") -> list[str]:
    """Stage that many new files beside the others. Returns their paths."""
    subtask = Subtask.objects.get(run=run["id"])
    paths = [f"many/{place:03}.txt" for place in range(number)]
    AttemptFile.objects.bulk_create(
        AttemptFile(
            attempt=subtask.current, path=path, op="create", content=content, size=len(content)
        )
        for path in paths
    )
    return paths


def refusal(reviewer: Reviewer, run: Shape) -> tuple[int, str]:
    answer = reviewer.try_to_apply(run)
    return answer.status_code, answer.json()["code"]


def test_the_first_reason_is_the_one_that_is_told(
    reviewer_on_github: Reviewer, principal: NewPrincipal
) -> None:
    """Whose run, at work, nothing staged, no workspace, another order, too much: each state here
    has all the later reasons as well."""
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    row = Run.objects.filter(pk=run["id"])
    stage_many(run, 300)
    assert refusal(reviewer, run) == (422, "validation_failed")
    Apply.objects.create(
        run=row.get(),
        target="branch",
        branch="ai/x",
        message="Another",
        claim_until=timezone.now() + timedelta(minutes=1),
    )
    assert refusal(reviewer, run) == (409, "apply_in_progress")
    reviewer.alice.do("DELETE", f"/workspaces/{reviewer.workspace_id}")
    assert refusal(reviewer, run) == (404, "workspace_not_found")
    AttemptFile.objects.filter(attempt__subtask__run=run["id"]).update(discarded_at=Now())
    assert refusal(reviewer, run) == (400, "nothing_staged")
    row.update(status=RunStatus.RUNNING)
    assert refusal(reviewer, run) == (409, "run_executing")
    bob = principal(name="bob")
    answer = bob.send("POST", f"/sessions/{run['id']}/changes/apply")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    row.update(status=run["status"])


def test_a_paused_run_with_a_call_in_flight_is_not_applied(reviewer_on_github: Reviewer) -> None:
    alice = reviewer_on_github.alice
    goal = alice.goal(part("a", writes=["a.md"]), part("b", "a"))
    goal = alice.also(goal, step="work", subtask="Part b", delay_ms=40, tokens=60)
    run = alice.start(goal=goal, **reviewer_on_github.where())
    with alice.follow(run) as follower:
        wait_until(lambda: any(each["text"] for each in follower.look()["subtasks"][1:]))
        paused = alice.do("POST", f"/sessions/{run['id']}/control", action="pause")
        assert (paused["status"], paused["in_flight"]) == ("paused", 1)
        assert refusal(reviewer_on_github, run) == (409, "run_executing")
    last = follower.pictures[-1]
    assert (last["status"], last["in_flight"]) == ("paused", 0)
    assert reviewer_on_github.apply(run)["status"] == "applied"


@pytest.mark.parametrize(("number", "size"), [(251, 2), (300, 2), (20, 1_000_000)])
def test_too_much_is_refused_and_a_part_of_it_is_applied(
    reviewer_on_github: Reviewer, number: int, size: int
) -> None:
    run = reviewer_on_github.finished(part("a"))
    paths = stage_many(run, number, "x" * size)
    answer = reviewer_on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["files"])
    assert f"{number} files of {number * size:,} bytes" in answer.json()["detail"]
    assert not Apply.objects.filter(run=run["id"]).exists()
    result = reviewer_on_github.apply(run, files=paths[:10])
    assert result["counts"] == {"applied": 10, "failed": 0, "skipped": 0}


@pytest.mark.parametrize("left_out", [{}, {"target": "", "branch": "", "message": ""}])
def test_what_is_left_empty_is_taken_from_the_proposal(
    reviewer_on_github: Reviewer, left_out: Shape
) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    proposal = reviewer_on_github.changes(run)["proposal"]
    result = reviewer_on_github.apply(run, **left_out)
    assert {name: result[name] for name in proposal} == proposal
