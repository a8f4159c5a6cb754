"""What the interface tells of the demo's run on a repository."""

from collections.abc import Callable
from typing import Any

from demo.library import GOAL

# Reads a path below `/api/project/sessions`.
Read = Callable[[str], Any]


def check_repository_run(read: Read) -> None:
    """An author calls functions, a model of another vendor does a part whose first one has failed,
    and a file that somebody else has changed, too, is merged."""
    [row] = [row for row in read("") if row["title"] == GOAL]
    run, events = read(f"/{row['id']}"), read(f"/{row['id']}/events?limit=500")
    assert run["status"] == "completed"
    _check_calls(run, events)
    _check_fallback(run, events)
    _check_merge(read(f"/{row['id']}/changes"), events)


def _part(run: Any, key: str) -> Any:
    return next(part for part in run["subtasks"] if part["key"] == key)


def _check_calls(run: Any, events: Any) -> None:
    part = _part(run, "texts")
    calls = [
        (each["data"]["name"], each["data"]["path"])
        for each in events
        if each["type"] == "subtask.tool" and each["data"]["subtask_id"] == part["id"]
    ]
    assert calls == [
        ("search", None),
        ("edit_file", "README.md"),
        ("list_files", None),
        ("write_file", "texts.md"),
        ("finish", None),
    ]
    assert not any(part["needs_attention"] for part in run["subtasks"])


def _check_fallback(run: Any, events: Any) -> None:
    part = _part(run, "basket")
    attempts = [(each["reason"], each["status"]) for each in part["attempts"]]
    assert attempts == [
        ("initial", "failed"),
        ("retry", "failed"),
        ("retry", "failed"),
        ("fallback", "completed"),
    ]
    told = [
        (each["data"]["reason"], each["data"]["subtask"]["model"])
        for each in events
        if each["type"] == "subtask.retrying" and each["data"]["subtask"]["id"] == part["id"]
    ]
    models = [each["model"] for each in part["attempts"]]
    assert told == [*zip(["retry", "retry", "fallback"], models[1:], strict=True)]
    # The vendor that has failed is paid for what it has done before.
    costs = [each["cost_usd"] for each in part["attempts"]]
    assert (costs[0] > 0, costs[1:3], costs[3] > 0) == (True, [0, 0], True)
    calls = {each["vendor"]: each["calls"] for each in run["cost_by_vendor"]}
    assert calls["xai"] == 1
    assert part["assigned_by"] == "fallback"


def _check_merge(changes: Any, events: Any) -> None:
    orders = [each["data"]["result"] for each in events if each["type"] == "changes.applied"]
    assert [_outcomes(order) for order in orders] == [
        {"index.html": "conflict", "style.css": "applied"},
        {"README.md": "merged", "index.html": "applied", "texts.md": "applied"},
    ]
    [resolved] = [
        each["data"]["path"]
        for each in events
        if each["type"] == "file.staged" and each["actor"] == "user"
    ]
    assert resolved == "index.html"
    [merged] = changes["merged"]
    assert merged["path"] == "README.md"
    assert "texts.md" in merged["content"]
    assert "Saturday" in merged["content"]
    assert changes["state"] == "partially_applied"
    assert [file["path"] for file in changes["files"]] == ["basket.js", "prices.csv"]


def _outcomes(order: Any) -> dict[str, str]:
    return {
        file["path"]: file["error"]["code"]
        if file["error"]
        else "merged"
        if file["merged"]
        else file["status"]
        for file in order["files"]
    }
