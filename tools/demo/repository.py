"""A demo workspace at the simulated GitHub, with a repository, and a finished run on it, some of
whose files are applied."""

import time
from collections.abc import Sequence
from typing import Final
from urllib.error import URLError

from django.db import transaction

from accounts.models import User
from demo import library
from demo.project_runs import carry_out
from integrations.githosts.types import HostKind
from integrations.workspaces.models import Workspace
from integrations.workspaces.services import workspaces
from integrations.workspaces.services.checkouts import add_symbols, read_files
from projects.models import Run, Step
from projects.selectors.candidate_models import roster_of
from projects.selectors.changes import changes_of
from projects.services import runs
from projects.services.applies import apply_changes
from projects.services.resolving import ResolvedFile, resolve
from projects.services.sources import paths_to_read
from projects.types import MAX_PARALLEL, MAX_SUBTASKS
from simulator.githost.client import GitHostControl
from simulator.process import RunningSimulator

_LOGIN: Final = "demo"
TOKEN: Final = "demo-token-of-the-simulated-github"  # noqa: S105 - it opens nothing else
# Seconds that the simulator is given to start.
_PATIENCE: Final = 20.0


@transaction.atomic
def write_repository_run(user: User, simulator_url: str) -> Run | None:
    """Connect the repository for a user without workspaces, and write the run, before any worker
    sees its jobs, with what its user then writes to the repository. None where there is one
    already."""
    hosts = RunningSimulator(simulator_url).githost
    mine = Workspace.objects.filter(account=user)
    # The simulator may have another port than the last time.
    mine.filter(login=_LOGIN).update(base_url=hosts.base_url(HostKind.GITHUB))
    if mine.exists() or not roster_of(user):
        return None
    _create(hosts)
    workspace = workspaces.connect(
        user=user,
        provider=HostKind.GITHUB,
        token=TOKEN,
        base_url=hosts.base_url(HostKind.GITHUB),
        name="Demo at the simulated GitHub",
    )
    run, _ = runs.start(
        user=user,
        request_key=None,
        goal=library.GOAL,
        workspace_id=workspace.pk,
        repository=library.REPOSITORY,
        max_subtasks=MAX_SUBTASKS,
        max_parallel=MAX_PARALLEL,
    )
    while (step := run.steps.filter(ended_at=None).order_by("id").first()) is not None:
        _carry_out(user, step)
    _apply(user, run, hosts)
    return run


def _carry_out(user: User, step: Step) -> None:
    checkout = step.run.checkout
    assert checkout is not None  # noqa: S101 - the run works on the repository
    if step.subtask is not None:
        read_files(checkout=checkout, paths=paths_to_read(step))
    elif not checkout.has_symbols:
        add_symbols(checkout=checkout)
    lines = [*library.AUTHORS]
    if step.continues_id is not None:
        lines.append(library.AWAY)
    carry_out(user, step, lines)


def _apply(user: User, run: Run, hosts: GitHostControl) -> None:
    """Apply the page, which somebody else has changed in the same lines; resolve that, and apply
    it with the texts, of which one is merged."""
    hosts.commit(HostKind.GITHUB, library.REPOSITORY, files=library.OTHERS, message=library.MESSAGE)
    _order(user, run, library.PAGE)
    [conflict] = [file.conflict for file in changes_of(run) if file.conflict]
    text = ResolvedFile(
        path="index.html", base_sha=conflict.base_sha or "", content=library.RESOLVED
    )
    resolve(user=user, run_id=run.pk, files=[text])
    _order(user, run, library.TEXTS)


def _order(user: User, run: Run, paths: Sequence[str]) -> None:
    apply_changes(user=user, run_id=run.pk, request_key=None, target="default", paths=paths)


def _create(hosts: GitHostControl) -> None:
    """Create the repository and its token, as soon as the simulator answers."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            hosts.create_token(HostKind.GITHUB, TOKEN, login=_LOGIN)
            hosts.create_repository(
                HostKind.GITHUB, library.REPOSITORY, files=library.FILES, replace=True
            )
        except (URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return
