"""POST /changes/apply with `pull_request`, after what it is about was written."""

from projects.tests.reviewer import CHANGES, Reviewer


def test_a_pull_request_follows_a_plain_apply(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    plain = reviewer.apply(run, branch="ai/x")
    assert (plain["status"], plain["pull_request_url"]) == ("applied", None)

    result = reviewer.apply(run, pull_request=True)

    assert (result["status"], result["branch"], result["files"]) == ("applied", "ai/x", [])
    assert (result["commit_sha"], result["error"]) == (None, None)
    assert result["pull_request_url"].startswith(reviewer.hosted.base_url)
    assert reviewer.changes(run)["state"] == "applied"
    again = reviewer.apply(run, pull_request=True)
    assert (again["status"], again["error"]) == ("applied", None)
    assert again["pull_request_url"] == result["pull_request_url"]


def test_where_no_file_could_be_written_the_open_one_is_told_or_why_there_is_none(
    reviewer_on_github: Reviewer,
) -> None:
    reviewer = reviewer_on_github
    reviewer.apply(reviewer.staged(**{"README.md": "# Theirs\n"}), branch="ai/y")
    run = reviewer.staged(**{"README.md": "# Other\n"})
    first = reviewer.apply(run, branch="ai/y", pull_request=True)
    assert (first["status"], first["pull_request_url"]) == ("failed", None)
    assert first["error"]["code"] == "pull_request_failed"
    assert "Nothing could be written" in first["error"]["message"]

    url = reviewer.apply(run, branch="ai/x", pull_request=True)["pull_request_url"]
    reviewer.stage(run, {"README.md": "# Again\n"})
    reviewer.hosted.somebody_commits({"README.md": "# Theirs\n"}, branch="ai/x")
    last = reviewer.apply(run, branch="ai/x", pull_request=True)
    assert reviewer.outcomes(last) == {"README.md": "conflict"}
    assert (last["pull_request_url"], last["error"]) == (url, None)


def test_it_is_for_the_branch_that_is_named(reviewer_on_github: Reviewer) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    reviewer.apply(run, branch="ai/x", files=["README.md"])
    reviewer.apply(run, branch="ai/y")
    last = reviewer.apply(run, pull_request=True)
    first = reviewer.apply(run, branch="ai/x", pull_request=True)
    assert (first["branch"], last["branch"]) == ("ai/x", "ai/y")
    assert first["pull_request_url"] != last["pull_request_url"]


def test_there_is_none_for_what_was_not_written(reviewer_on_github: Reviewer) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    reviewer.apply(run, target="default")
    for branch in ({}, {"branch": "ai/x"}):
        answer = reviewer.try_to_apply(run, pull_request=True, **branch)
        assert (answer.status_code, answer.json()["code"]) == (400, "nothing_staged")
