"""What runs have written to repositories."""

import subprocess

from bench.campaign.acts.repositories import BRANCH
from bench.campaign.notes import Note

# With the one that the repository was made with.
_COMMITS = 2


def check_commits(note: Note) -> list[str]:
    """The branch has the commit that was answered, and no other of ours."""
    if "folder" not in note.seen:
        return []
    found = _ids_of_commits(note.seen["folder"])
    applied = note.seen.get("applied")
    if applied and found[:1] != [applied["commit_sha"]]:
        return [f"{note}: {applied['commit_sha']} was answered, the branch has {found}"]
    if found and len(found) != _COMMITS:
        return [f"{note}: its branch has {len(found)} commits"]
    return []


def _ids_of_commits(folder: str) -> list[str]:
    """The ids of the branch's commits, the newest first; none where there is no such branch."""
    done = subprocess.run(
        ["git", "-C", folder, "rev-list", BRANCH, "--"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split()
