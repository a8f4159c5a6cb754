"""Who has written what a run commits, as `git log` shows it."""

from pathlib import Path

import pytest
from django.conf import settings

from accounts.models import User
from integrations.githosts.tests.hosted import git
from integrations.githosts.types import HostKind
from projects.tests.reviewer import Reviewer

PLATFORM = f"{settings.PRODUCT_NAME} <noreply@localhost>"


def test_the_author_is_the_person_and_the_committer_the_platform(
    reviewer: Reviewer, tmp_path: Path
) -> None:
    """GitLab takes no committer: it is the owner of the token."""
    alice = reviewer.alice.user
    User.objects.filter(pk=alice.pk).update(name="Alice Äther")
    run = reviewer.staged(**{"README.md": "# Other\n"})
    reviewer.apply(run, branch="ai/x")
    folder = reviewer.hosted.clone(tmp_path / "clone", "ai/x")
    login = reviewer.hosted.login
    committers = {HostKind.GITHUB: PLATFORM, HostKind.GITLAB: f"{login} <{login}@example.com>"}
    assert git(folder, "log", "-1", "--format=%an <%ae>%n%cn <%ce>").splitlines() == [
        f"Alice Äther <{alice.email}>",
        committers[reviewer.hosted.kind],
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("", None), ("<>", None), ("  .", None), (' "A. <b>\tLiddell", ', "A. b Liddell")],
)
def test_a_name_that_git_does_not_take_is_cleaned(
    reviewer_on_github: Reviewer, tmp_path: Path, name: str, shown: str | None
) -> None:
    reviewer, alice = reviewer_on_github, reviewer_on_github.alice.user
    User.objects.filter(pk=alice.pk).update(name=name)
    run = reviewer.staged(**{"README.md": "# Other\n"})
    reviewer.apply(run, branch="ai/x")
    folder = reviewer.hosted.clone(tmp_path / "clone", "ai/x")
    written = git(folder, "log", "-1", "--format=%an").strip()
    assert written == (shown or alice.email.partition("@")[0])
