"""`python -m tests.former_release`: does the release before this one work on this one's schema?

While a release is rolled out, processes of the one before run on a database that this one has
migrated. Its smoke tests (tests/smoke_files.txt, as it had them) run here from its own tree, and
after its migrations `conftest.py` there runs those of this tree. deploy/former_release.txt names
its tag or commit, or says `none`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from devserver.paths import ROOT

# Names the tree whose migrations a test run adds to its own.
LATER_TREE = "LATER_TREE"
# The first test waits for the migrations of both trees.
OPTIONS = ("-q", "-p", "no:cacheprovider", "--timeout=600")
NAME = ROOT / "deploy" / "former_release.txt"


def main() -> int:
    release = NAME.read_text().strip()
    if release == "none":
        sys.stdout.write("There is no former release: nothing runs on this one's schema.\n")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _unpack(release, folder)
        files = (folder / "tests" / "smoke_files.txt").read_text().split()
        sys.stdout.write(f"Smoke tests of {release} on the schema of this tree:\n")
        sys.stdout.flush()
        return subprocess.run(
            [sys.executable, "-m", "pytest", *OPTIONS, *files],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": f"{folder}:{folder}/platform:{folder}/tools",
                LATER_TREE: str(ROOT),
            },
            check=False,
        ).returncode


def migrate_with_later_tree(database_url: str) -> None:
    """Bring the database of a test run to the schema of LATER_TREE, if there is one. Raises
    CalledProcessError where that cannot be migrated."""
    if not (tree := os.environ.get(LATER_TREE)):
        return
    subprocess.run(
        [sys.executable, Path(tree) / "manage.py", "migrate", "--no-input", "--verbosity=0"],
        env={
            **os.environ,
            "PYTHONPATH": f"{tree}:{tree}/platform:{tree}/tools",
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            "DATABASE_URL": database_url,
            "DATABASE_POOL": "0",
        },
        cwd=tree,
        check=True,
    )


def _unpack(release: str, folder: Path) -> None:
    with tempfile.TemporaryFile() as archive:
        git = ("git", "-C", ROOT, "archive", release)
        subprocess.run(git, stdout=archive, check=True)
        archive.seek(0)
        subprocess.run(("tar", "-x", "-C", folder), stdin=archive, check=True)


if __name__ == "__main__":
    sys.exit(main())
