"""Reads the files of a run's repository that a step needs, before the step begins."""

import time
from typing import Final
from uuid import UUID

from django.db import connection

from common.errors import DomainError
from integrations.workspaces.errors import HostUnavailable
from integrations.workspaces.services.checkouts import add_symbols, read_files
from projects.errors import RepositoryUnavailable
from projects.models import Step
from projects.selectors.sources import source_paths
from projects.types import StepKind

# Seconds before a host that does not answer is asked again.
_PAUSES: Final = (0.5, 2.0)


def read_sources(step_id: UUID) -> None:
    """Read what the author of a subtask is to be shown, unless it was read before, or for a planner
    what files define, as far as the host answers soon. May be repeated, and takes as long as the
    host does.

    Raises RepositoryUnavailable.
    """
    step = Step.objects.select_related("run__checkout", "subtask").filter(pk=step_id).first()
    if step is None or step.run.checkout is None:
        return
    try:
        if step.kind == StepKind.PLAN:
            add_symbols(checkout=step.run.checkout)
        elif step.subtask is not None:
            _read(step)
    except DomainError as error:
        raise RepositoryUnavailable(error.text) from error
    finally:
        # The thread is kept for other hosts, and a connection that it keeps would be idle.
        connection.close()


def _read(step: Step) -> None:
    checkout, subtask = step.run.checkout, step.subtask
    assert checkout is not None and subtask is not None  # noqa: S101, PT018 - looked up by these
    for pause in _PAUSES:
        try:
            return read_files(checkout=checkout, paths=source_paths(subtask))
        except HostUnavailable:
            time.sleep(pause)
    return read_files(checkout=checkout, paths=source_paths(subtask))
