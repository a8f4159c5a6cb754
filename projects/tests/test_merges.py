"""POST /changes/apply and /changes/resolve: files that somebody else has changed, too."""

from pathlib import Path
from typing import Any

import pytest

from integrations.githosts.tests.hosted import git
from projects.tests.principal import BALANCE_ONLY, Shape
from projects.tests.reviewer import Reviewer

# Of `src/list.txt` in the repository: lines far enough apart to be changed side by side.
LINES = [f"line {number}\n" for number in range(1, 10)]


def changed(**lines: str) -> str:
    """The list with other lines, by their numbers (`_2="two"`)."""
    new = {int(number[1:]): f"{text}\n" for number, text in lines.items()}
    return "".join(new.get(place, line) for place, line in enumerate(LINES, 1))


PATH = "src/list.txt"
OURS, THEIRS = changed(_2="two"), changed(_8="eight")
BOTH = changed(_2="two", _8="eight")


@pytest.fixture
def listed(reviewer: Reviewer) -> Reviewer:
    """A reviewer whose repository has the list."""
    reviewer.hosted.somebody_commits({PATH: "".join(LINES)})
    return reviewer


@pytest.fixture
def on_github(reviewer_on_github: Reviewer) -> Reviewer:
    reviewer_on_github.hosted.somebody_commits({PATH: "".join(LINES)})
    return reviewer_on_github


def staged_file(reviewer: Reviewer, run: Shape, path: str = PATH) -> Any:
    return next(file for file in reviewer.changes(run)["files"] if file["path"] == path)


def resolve(reviewer: Reviewer, run: Shape, *files: Shape) -> Any:
    path = f"/sessions/{run['id']}/changes/resolve"
    return reviewer.alice.send("POST", path, files=[*files])


def text_on(reviewer: Reviewer, folder: Path, branch: str = "main", path: str = PATH) -> str:
    clone = reviewer.hosted.clone(folder, branch)
    return (clone / path).read_bytes().decode()


# --- Clean merges ---------------------------------------------------------------------------------


def test_what_both_have_changed_in_other_lines_is_merged(listed: Reviewer, tmp_path: Path) -> None:
    run = listed.staged(**{PATH: OURS, "new.md": "new\n"})
    listed.hosted.somebody_commits({PATH: THEIRS})

    result = listed.apply(run, target="default")

    assert result["status"] == "applied"
    merged = {file["path"]: file["merged"] for file in result["files"]}
    assert merged == {PATH: True, "new.md": False}
    folder = listed.hosted.clone(tmp_path / "clone")
    assert (folder / PATH).read_text() == BOTH
    [shown] = listed.changes(run)["merged"]
    assert (shown["path"], shown["content"]) == (PATH, BOTH)
    assert shown["base_sha"] == git(folder, "rev-parse", f"HEAD~1:{PATH}").strip()
    git(folder, "checkout", "--quiet", "HEAD~1")
    (tmp_path / "patch").write_text(shown["diff"])
    git(folder, "apply", str(tmp_path / "patch"))
    assert (folder / PATH).read_text() == BOTH


def test_what_was_merged_is_told_though_the_answer_is_lost(on_github: Reviewer) -> None:
    run = on_github.staged(**{PATH: OURS})
    on_github.hosted.somebody_commits({PATH: THEIRS})
    on_github.hosted.fail("update_ref", when="after", drop=True)
    result = on_github.apply(run, target="default")
    assert [(file["status"], file["merged"]) for file in result["files"]] == [("applied", True)]
    assert [file["content"] for file in on_github.changes(run)["merged"]] == [BOTH]


def test_a_merged_file_is_written_again_with_the_lines_of_others(
    on_github: Reviewer, tmp_path: Path
) -> None:
    """The next result is made from the run's own version, which does not have them."""
    run = on_github.staged(**{PATH: OURS})
    on_github.hosted.somebody_commits({PATH: THEIRS})
    on_github.apply(run, target="default")
    on_github.stage(run, {PATH: changed(_2="two", _5="five")})
    result = on_github.apply(run, target="default")
    assert [file["merged"] for file in result["files"]] == [True]
    assert text_on(on_github, tmp_path / "clone") == changed(_2="two", _5="five", _8="eight")


def test_what_was_written_to_another_branch_is_not_taken_for_deleted(
    on_github: Reviewer, tmp_path: Path
) -> None:
    """A merge is made from what that branch has of the run."""
    run = on_github.staged(**{PATH: OURS})
    on_github.apply(run, branch="ai/x")
    on_github.stage(run, {PATH: changed(_2="two", _5="five")})
    on_github.hosted.somebody_commits({PATH: THEIRS})
    result = on_github.apply(run, target="default")
    assert result["status"] == "applied"
    assert text_on(on_github, tmp_path / "clone") == changed(_2="two", _5="five", _8="eight")


def test_a_file_that_is_moved_takes_the_lines_of_others_along(
    on_github: Reviewer, tmp_path: Path
) -> None:
    content = f"@@FILE {{mark}} move lib/list.txt\n@@FROM {{mark}} {PATH}\n@@END {{mark}}"
    goal = on_github.alice.goal({**_part(), "reads": [PATH]}, work={"text": f"Done.\n{content}"})
    run = on_github.alice.finished(goal=goal, **on_github.where())
    on_github.hosted.somebody_commits({PATH: THEIRS})
    result = on_github.apply(run, target="default")
    assert [(file["op"], file["status"]) for file in result["files"]] == [("move", "applied")]
    clone = on_github.hosted.clone(tmp_path / "clone")
    assert (clone / "lib/list.txt").read_text() == THEIRS
    assert not (clone / PATH).exists()


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (changed(_2="two"), changed(_8="eight").replace("\n", "\r\n"), "\r\n"),
        (changed(_2="two"), changed(_8="eight").rstrip("\n"), "\n"),
    ],
)
def test_line_ends_are_those_of_the_other_side(
    on_github: Reviewer, tmp_path: Path, ours: str, theirs: str, merged: str
) -> None:
    run = on_github.staged(**{PATH: ours})
    on_github.hosted.somebody_commits({PATH: theirs})
    assert on_github.apply(run, target="default")["status"] == "applied"
    text = text_on(on_github, tmp_path / "clone")
    assert text == BOTH.rstrip("\n").replace("\n", merged) + ("" if theirs[-1] != "\n" else merged)


# --- Conflicts ------------------------------------------------------------------------------------

CONFLICT = changed(_2="zwei", _8="eight")
MARKED = changed(_2="<<<<<<< this run\ntwo\n=======\nzwei\n>>>>>>> main", _8="eight")
RESOLVED = changed(_2="two, zwei", _8="eight")


def in_conflict(reviewer: Reviewer, ours: str = OURS, **theirs: Any) -> Shape:
    """A run whose file somebody else has changed in the same line."""
    run = reviewer.staged(**{PATH: ours})
    reviewer.hosted.somebody_commits({PATH: CONFLICT, **theirs})
    assert reviewer.outcomes(reviewer.apply(run, target="default"))[PATH] == "conflict"
    return run


def test_a_conflict_is_shown_and_resolved_by_its_user(listed: Reviewer, tmp_path: Path) -> None:
    run = in_conflict(listed)
    before = staged_file(listed, run)
    assert before["content"] == OURS
    conflict = before["conflict"]
    folder = listed.hosted.clone(tmp_path / "before")
    theirs = git(folder, "rev-parse", f"HEAD:{PATH}").strip()
    assert conflict == {"branch": "main", "base_sha": theirs, "content": MARKED}

    with listed.alice.follow(run):
        answer = resolve(listed, run, {"path": PATH, "base_sha": theirs, "content": RESOLVED})

    assert answer.status_code == 200, answer.text
    [file] = answer.json()["files"]
    assert (file["content"], file["base_sha"], file["conflict"]) == (RESOLVED, theirs, None)
    assert file["diff"].endswith("-zwei\n+two, zwei\n line 3\n line 4\n line 5\n")
    cost = listed.alice.do("GET", f"/sessions/{run['id']}")["cost_usd"]
    assert (cost, run["status"]) == (run["cost_usd"], "completed")
    result = listed.apply(run, target="default")
    assert listed.outcomes(result) == {PATH: "applied"}
    assert text_on(listed, tmp_path / "clone") == RESOLVED
    assert listed.changes(run)["state"] == "applied"


def test_a_resolved_file_is_merged_with_what_comes_after(
    on_github: Reviewer, tmp_path: Path
) -> None:
    run = in_conflict(on_github)
    sha = staged_file(on_github, run)["conflict"]["base_sha"]
    resolve(on_github, run, {"path": PATH, "base_sha": sha, "content": RESOLVED})
    later = changed(_2="zwei", _5="five", _8="eight")
    on_github.hosted.somebody_commits({PATH: later})
    assert on_github.apply(run, target="default")["files"][0]["merged"]
    assert text_on(on_github, tmp_path / "clone") == changed(_2="two, zwei", _5="five", _8="eight")


def test_a_resolved_file_brings_only_its_own_change_to_another_branch(
    on_github: Reviewer, tmp_path: Path
) -> None:
    run = in_conflict(on_github, changed(_2="two", _5="five"))
    sha = staged_file(on_github, run)["conflict"]["base_sha"]
    text = changed(_2="zwei", _5="five", _8="eight")
    resolve(on_github, run, {"path": PATH, "base_sha": sha, "content": text})
    assert on_github.apply(run, branch="ai/x")["status"] == "applied"
    assert text_on(on_github, tmp_path / "clone", "ai/x") == changed(_5="five")


def test_a_resolved_file_is_written_to_a_branch_that_has_nothing_of_the_other_side(
    on_github: Reviewer, tmp_path: Path
) -> None:
    """Its text is of lines that only the other branch has; the run has read those of this one."""
    run = in_conflict(on_github)
    sha = staged_file(on_github, run)["conflict"]["base_sha"]
    resolve(on_github, run, {"path": PATH, "base_sha": sha, "content": RESOLVED})
    assert on_github.outcomes(on_github.apply(run)) == {PATH: "applied"}
    branch = on_github.changes(run)["proposal"]["branch"]
    assert text_on(on_github, tmp_path / "clone", branch) == RESOLVED


def test_so_is_one_that_is_to_be_deleted_and_one_that_only_the_other_branch_has(
    on_github: Reviewer, tmp_path: Path
) -> None:
    run = on_github.staged(**{PATH: "", "new.md": "ours\n"})
    on_github.hosted.somebody_commits({PATH: THEIRS, "new.md": "theirs\n"})
    on_github.apply(run, target="default")
    conflicts = {file["path"]: file["conflict"] for file in on_github.changes(run)["files"]}
    bodies = [
        {"path": PATH, "base_sha": conflicts[PATH]["base_sha"], "op": "delete"},
        {"path": "new.md", "base_sha": conflicts["new.md"]["base_sha"], "content": "both\n"},
    ]
    assert resolve(on_github, run, *bodies).status_code == 200
    result = on_github.apply(run, branch="ai/x")
    assert on_github.outcomes(result) == {PATH: "applied", "new.md": "applied"}
    folder = on_github.hosted.clone(tmp_path / "clone", "ai/x")
    assert not (folder / PATH).exists()
    assert (folder / "new.md").read_text() == "both\n"


def test_a_resolved_file_is_not_written_over_what_the_other_side_has_taken_back(
    on_github: Reviewer, tmp_path: Path
) -> None:
    """The branch of the conflict has the lines that the run has read, and not by chance."""
    run = in_conflict(on_github)
    sha = staged_file(on_github, run)["conflict"]["base_sha"]
    resolve(on_github, run, {"path": PATH, "base_sha": sha, "content": RESOLVED})
    on_github.hosted.somebody_commits({PATH: "".join(LINES)})
    assert on_github.outcomes(on_github.apply(run, target="default")) == {PATH: "conflict"}
    assert text_on(on_github, tmp_path / "clone") == "".join(LINES)


def test_a_text_that_was_given_is_corrected_until_it_is_written(
    on_github: Reviewer, tmp_path: Path
) -> None:
    run = in_conflict(on_github)
    sha = staged_file(on_github, run)["conflict"]["base_sha"]
    first: Shape = {"path": PATH, "base_sha": sha, "content": "Oh no\n"}
    texts: list[Shape] = [first, {**first, "op": "delete", "content": ""}, {**first, "content": ""}]
    for body in (*texts, {**first, "content": RESOLVED}):
        [file] = resolve(on_github, run, body).json()["files"]
        assert (file["content"], file["base_sha"]) == (body["content"], sha)
    assert file["op"] == "update"
    other = resolve(on_github, run, {**first, "base_sha": "0" * 40})
    assert (other.status_code, other.json()["code"]) == (409, "conflict_changed")
    on_github.apply(run, target="default")
    assert text_on(on_github, tmp_path / "clone") == RESOLVED
    assert resolve(on_github, run, first).json()["code"] == "nothing_staged"


def test_a_text_is_made_from_the_version_that_the_conflict_is_with(on_github: Reviewer) -> None:
    run = in_conflict(on_github)
    sha = staged_file(on_github, run)["conflict"]["base_sha"]
    good = {"path": PATH, "base_sha": sha, "content": RESOLVED}
    refused: list[tuple[Shape, int, str]] = [
        ({**good, "base_sha": "0" * 40}, 409, "conflict_changed"),
        ({**good, "base_sha": None}, 409, "conflict_changed"),
        ({**good, "path": "README.md"}, 409, "no_conflict"),
        ({**good, "content": MARKED}, 422, "validation_failed"),
        ({"path": PATH, "content": RESOLVED}, 422, "validation_failed"),
        ({**good, "content": "x" * 400_001}, 422, "validation_failed"),
        ({**good, "op": "move"}, 422, "validation_failed"),
        ({"path": PATH, "base_sha": sha}, 422, "validation_failed"),
        ({**good, "op": "delete"}, 422, "validation_failed"),
    ]
    for body, status, code in refused:
        answer = resolve(on_github, run, body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), body["path"]
    both = resolve(on_github, run, good, {**good, "path": "README.md"})
    assert both.json()["code"] == "no_conflict"
    assert resolve(on_github, run, good, good).status_code == 422
    assert staged_file(on_github, run)["content"] == OURS
    assert resolve(on_github, run, good).status_code == 200


def test_a_conflict_is_resolved_by_an_author(on_github: Reviewer, tmp_path: Path) -> None:
    """Who reassigns the part: its author is shown both sides, and its edits are of these."""
    run = in_conflict(on_github)
    edit = [
        *(f"@@FILE {{mark}} edit {PATH}", "@@OLD {mark}"),
        *("<<<<<<< this run", "two", "=======", "zwei", ">>>>>>> main"),
        *("@@NEW {mark}", "two, zwei", "@@END {mark}"),
    ]
    goal = on_github.alice.also("", step="work", text="\n".join(["Done.", *edit]))
    with on_github.alice.follow(run) as follower:
        on_github.alice.do(
            "POST",
            f"/sessions/{run['id']}/reassign",
            subtask_id=run["subtasks"][0]["id"],
            model_key=BALANCE_ONLY,
            instructions=goal.strip(),
        )
    assert follower.pictures[-1]["status"] == "completed"
    file = staged_file(on_github, run)
    assert (file["content"], file["conflict"]) == (RESOLVED, None)
    assert on_github.outcomes(on_github.apply(run, target="default")) == {PATH: "applied"}
    assert text_on(on_github, tmp_path / "clone") == RESOLVED


def test_a_file_that_both_have_created_is_a_conflict(on_github: Reviewer, tmp_path: Path) -> None:
    run = on_github.staged(**{"new.md": "ours\n"})
    on_github.hosted.somebody_commits({"new.md": "theirs\n"})
    assert on_github.outcomes(on_github.apply(run, target="default")) == {"new.md": "conflict"}
    conflict = staged_file(on_github, run, "new.md")["conflict"]
    assert conflict["content"] == "<<<<<<< this run\nours\n=======\ntheirs\n>>>>>>> main\n"
    both = {"path": "new.md", "base_sha": conflict["base_sha"], "content": "both\n"}
    deleted = resolve(on_github, run, {**both, "op": "delete", "content": ""})
    assert deleted.json()["detail"].endswith("somebody else has created: discard yours instead.")
    [file] = resolve(on_github, run, both).json()["files"]
    assert (file["op"], file["base_sha"]) == ("update", conflict["base_sha"])
    assert on_github.apply(run, target="default")["status"] == "applied"
    assert text_on(on_github, tmp_path / "clone", path="new.md") == "both\n"


def test_what_is_deleted_here_and_changed_there_is_a_conflict(
    on_github: Reviewer, tmp_path: Path
) -> None:
    run = on_github.staged(**{PATH: "", "open.txt": ""})
    on_github.hosted.somebody_commits({PATH: THEIRS, "open.txt": "kept\n"})
    result = on_github.apply(run, target="default")
    assert set(on_github.outcomes(result).values()) == {"conflict"}
    assert "to be deleted" in result["files"][0]["error"]["message"]
    conflicts = {file["path"]: file["conflict"] for file in on_github.changes(run)["files"]}
    assert conflicts[PATH]["content"] == THEIRS
    bodies = [
        {"path": PATH, "base_sha": conflicts[PATH]["base_sha"], "op": "delete"},
        {"path": "open.txt", "base_sha": conflicts["open.txt"]["base_sha"], "content": "mine\n"},
    ]
    assert resolve(on_github, run, *bodies).status_code == 200
    assert on_github.apply(run, target="default")["status"] == "applied"
    folder = on_github.hosted.clone(tmp_path / "clone")
    assert not (folder / PATH).exists()
    assert (folder / "open.txt").read_text() == "mine\n"


def test_what_is_changed_here_and_gone_there_is_created_again(
    on_github: Reviewer, tmp_path: Path
) -> None:
    run = on_github.staged(**{PATH: OURS})
    on_github.hosted.somebody_commits({PATH: None, "lib/moved.txt": "".join(LINES)})
    result = on_github.apply(run, target="default")
    assert on_github.outcomes(result) == {PATH: "not_found"}
    assert "lib/moved.txt" in result["files"][0]["error"]["message"]
    assert staged_file(on_github, run)["conflict"] == {
        "branch": "main",
        "base_sha": None,
        "content": None,
    }
    again = {"path": PATH, "base_sha": None, "content": OURS}
    assert resolve(on_github, run, {**again, "op": "delete"}).status_code == 422
    [file] = resolve(on_github, run, again).json()["files"]
    assert (file["op"], file["base_sha"]) == ("create", None)
    assert on_github.apply(run, target="default")["status"] == "applied"
    assert text_on(on_github, tmp_path / "clone") == OURS


def test_what_is_no_text_is_not_merged(on_github: Reviewer, tmp_path: Path) -> None:
    run = on_github.staged(**{PATH: OURS, "README.md": "# Mine\n"})
    theirs = {PATH: {"base64": "AAEC/w=="}, "README.md": {"content": "x", "mode": "120000"}}
    on_github.hosted.somebody_commits(theirs)
    result = on_github.apply(run, target="default")
    assert on_github.outcomes(result) == {PATH: "conflict", "README.md": "protected"}
    conflict = staged_file(on_github, run)["conflict"]
    assert conflict["content"] is None
    assert conflict["base_sha"]
    assert staged_file(on_github, run, "README.md")["conflict"] is None
    mine = {"path": PATH, "base_sha": conflict["base_sha"], "content": OURS}
    assert resolve(on_github, run, mine).status_code == 200
    on_github.apply(run, target="default", files=[PATH])
    assert text_on(on_github, tmp_path / "clone") == OURS


def _part() -> Shape:
    return {
        "key": "a",
        "title": "Part a",
        "instructions": "Write part a.",
        "acceptance": ["It is there."],
        "depends_on": [],
    }
