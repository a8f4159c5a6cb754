"""POST, GET, PATCH /api/project/sessions: beginning, listing and naming runs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from projects.models import Run
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Principal, Shape, part

HELD = {"ttft_ms": 20_000}


@pytest.fixture
def alice(principal: NewPrincipal) -> Iterator[Principal]:
    """Alice, whose runs are cancelled at the end."""
    alice = principal()
    yield alice
    for run in alice.do("GET", "/sessions"):
        if run["status"] in ("queued", "running"):
            alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")


def start(alice: Principal, key: str | None = None, **fields: Any) -> httpx.Response:
    body = {"prompt": alice.goal(part("a"), plan=HELD), **fields}
    return alice.send("POST", "/sessions", key, **body)


def test_a_run_begins_with_its_first_line_as_title(alice: Principal) -> None:
    answer = start(alice)
    run = answer.json()
    assert answer.status_code == 201
    assert (run["title"], run["status"]) == ("Write about the sea.", "queued")
    assert (run["phase"], run["plan"], run["subtasks"]) == ("planning", None, [])
    assert run["activity"] == "Planning."
    assert (run["max_subtasks"], run["max_parallel"], run["review"]) == (12, 4, True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("prompt", ""),
        ("prompt", None),
        ("prompt", 7),
        ("prompt", "x" * 20_001),
        ("models", "gpt-6-luna"),
        ("models", ["gpt-2"]),
        ("models", ["gpt-6-luna"] * 33),
        ("planner_model", "gpt-2"),
        ("planner_model", "text-embedding-3-small"),
        ("reviewer_model", 7),
        ("max_subtasks", 0),
        ("max_subtasks", 13),
        ("max_parallel", 5),
        ("max_parallel", "2"),
        ("review", "yes"),
        ("budget_usd", -1),
        ("budget_usd", 0),
        ("budget_usd", 0.001),
        ("budget_usd", 10_001),
        ("upload_ids", ["x"]),
        ("upload_ids", [str(uuid4())]),
        ("title", "x" * 201),
    ],
)
def test_a_body_that_is_not_so_is_422_and_begins_nothing(
    alice: Principal, field: str, value: Any
) -> None:
    answer = start(alice, **{field: value})
    assert answer.status_code == 422, answer.text
    assert not Run.objects.filter(account=alice.user).exists()


def test_three_runs_run_at_once_and_the_fourth_is_429_with_their_names(alice: Principal) -> None:
    runs = [start(alice, title=f"Run {n}").json() for n in range(3)]
    refused = start(alice)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_runs")
    assert refused.json()["runs"] == [{"id": run["id"], "title": run["title"]} for run in runs]
    alice.do("POST", f"/sessions/{runs[0]['id']}/control", action="pause")
    assert start(alice).status_code == 201
    resumed = alice.send("POST", f"/sessions/{runs[0]['id']}/control", action="resume")
    assert (resumed.status_code, resumed.json()["code"]) == (429, "too_many_runs")


def test_of_twenty_starts_at_once_three_begin(alice: Principal) -> None:
    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(lambda _: start(alice).status_code, range(20)))
    assert sorted(answers) == [201] * 3 + [429] * 17


def test_a_request_with_a_key_begins_one_run(alice: Principal) -> None:
    first, again = start(alice, key="k"), start(alice, key="k")
    assert first.json()["id"] == again.json()["id"]
    assert again.headers["Idempotency-Replayed"] == "true"
    other = start(alice, key="k", title="Other")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert Run.objects.filter(account=alice.user).count() == 1


def test_a_reviewer_that_cannot_be_reached_here_begins_nothing(alice: Principal) -> None:
    unreachable = "mistral-medium-3.5"
    refused = start(alice, reviewer_model=unreachable)
    assert (refused.status_code, refused.json()["code"]) == (503, "provider_unavailable")
    assert start(alice, reviewer_model=unreachable, review=False).status_code == 201


def test_the_list_has_the_newest_first_and_is_filtered(alice: Principal) -> None:
    for title in ("Sea", "Land", "Seaside"):
        run = start(alice, title=title).json()
        alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")
    rows = alice.do("GET", "/sessions")
    assert [row["title"] for row in rows] == ["Seaside", "Land", "Sea"]
    assert rows[0].keys() == {
        *("id", "title", "status", "phase", "pause_reason", "advice", "error", "progress"),
        *("failed_subtasks", "cost_usd", "budget_usd", "created_at", "ended_at", "models"),
    }
    assert [row["title"] for row in alice.do("GET", "/sessions?q=sea")] == ["Seaside", "Sea"]
    assert alice.do("GET", "/sessions?status=running") == []
    assert alice.send("GET", "/sessions?status=odd").status_code == 422


def test_a_run_is_renamed(alice: Principal) -> None:
    run = start(alice).json()
    assert alice.do("PATCH", f"/sessions/{run['id']}", title="Sea")["title"] == "Sea"
    shown: Shape = alice.do("PATCH", f"/sessions/{run['id']}", title="")
    assert shown["title"] == "Write about the sea."
