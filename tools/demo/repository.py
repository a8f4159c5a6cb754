"""A demo workspace at the simulated GitHub, with a repository, and a finished run on it whose files
are staged."""

import time
from typing import Final
from urllib.error import URLError

from django.db import transaction

from accounts.models import User
from demo.project_runs import carry_out
from integrations.githosts.types import HostKind
from integrations.workspaces.models import Workspace
from integrations.workspaces.services import workspaces
from integrations.workspaces.services.checkouts import add_symbols, read_files
from projects.models import Run
from projects.selectors.candidate_models import roster_of
from projects.services import runs
from projects.services.sources import paths_to_read
from projects.types import MAX_PARALLEL, MAX_SUBTASKS
from simulator.githost.client import GitHostControl
from simulator.process import RunningSimulator

_LOGIN: Final = "demo"
REPOSITORY: Final = f"{_LOGIN}/library"
GOAL: Final = (
    "Turn the site of our neighbourhood library into one page with a price list and a basket for "
    "used books."
)
TOKEN: Final = "demo-token-of-the-simulated-github"  # noqa: S105 - it opens nothing else
_FILES: Final = {
    "README.md": "# Library\n\nThe site of our neighbourhood library. `serve.sh` shows it.\n",
    "serve.sh": {"content": "#!/bin/sh\nexec python3 -m http.server 8001\n", "mode": "100755"},
    "index.html": "<!doctype html>\n<title>Library</title>\n<h1>Library</h1>\n",
    "styles.css": "body { font-family: serif; }\n",
    "events/june.md": "# June\n\n- 12 June: reading for children\n",
}
# Seconds that the simulator is given to start.
_PATIENCE: Final = 20.0


@transaction.atomic
def write_repository_run(user: User, simulator_url: str) -> Run | None:
    """Connect the repository for a user without workspaces, and write the run, before any worker
    sees its jobs. None where there is one already."""
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
        goal=GOAL,
        workspace_id=workspace.pk,
        repository=REPOSITORY,
        max_subtasks=MAX_SUBTASKS,
        max_parallel=MAX_PARALLEL,
    )
    while (step := run.steps.filter(ended_at=None).order_by("id").first()) is not None:
        if run.checkout is not None and step.subtask is not None:
            read_files(checkout=run.checkout, paths=paths_to_read(step))
        elif run.checkout is not None and not run.checkout.has_symbols:
            add_symbols(checkout=run.checkout)
        carry_out(user, step)
    return run


def _create(hosts: GitHostControl) -> None:
    """Create the repository and its token, as soon as the simulator answers."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            hosts.create_token(HostKind.GITHUB, TOKEN, login=_LOGIN)
            hosts.create_repository(HostKind.GITHUB, REPOSITORY, files=_FILES, replace=True)
        except (URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return
