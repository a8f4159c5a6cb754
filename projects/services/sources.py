"""Reads the files of a run's repository that a step needs, before the step begins."""

import time
from collections.abc import Iterator
from typing import Final
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import connection

from common.errors import DomainError
from integrations.workspaces.errors import HostUnavailable, WorkspaceGone
from integrations.workspaces.models import Checkout
from integrations.workspaces.services.checkouts import add_symbols, read_files
from projects.errors import RepositoryGone, RepositoryUnavailable
from projects.models import Step
from projects.selectors.sources import source_paths, unread_paths
from projects.selectors.tool_turns import open_calls
from projects.selectors.working_copies import unread_by_calls
from projects.types import StepKind

# Seconds before a host that does not answer is asked again.
_PAUSES: Final = (0.5, 2.0)
# Files that are read at a time.
_BATCH: Final = 50


def read_sources(step_id: UUID) -> None:
    """Read what the author of a subtask is to be shown, and what the calls of its turn before need,
    unless it was read before, or for a planner what files define, as far as the host answers soon.
    Nothing is read for a run that is deleted. May be repeated, and takes as long as the host does.

    Raises RepositoryUnavailable; RepositoryGone where the workspace is disconnected.
    """
    step = Step.objects.select_related("run__checkout", "subtask").filter(pk=step_id).first()
    if step is None or step.run.checkout is None:
        return
    try:
        if step.kind == StepKind.PLAN:
            add_symbols(checkout=step.run.checkout)
        elif step.subtask is not None:
            _read(step)
    except ObjectDoesNotExist:
        return  # No lock of the run is held while the host is asked: it was deleted meanwhile.
    except WorkspaceGone as error:
        raise RepositoryGone from error
    except DomainError as error:
        raise RepositoryUnavailable(error.text) from error
    finally:
        # The thread is kept for other hosts, and a connection that it keeps would be idle.
        connection.close()


def paths_to_read(step: Step) -> list[str]:
    """The files that a work step needs of the repository, and that nobody has read yet."""
    subtask = step.subtask
    assert subtask is not None  # noqa: S101 - work has one
    return [
        *unread_paths(step.run, source_paths(subtask)),
        *unread_by_calls(step.run, open_calls(step)),
    ]


def _read(step: Step) -> None:
    checkout = step.run.checkout
    assert checkout is not None  # noqa: S101 - looked up by this
    for paths in _batches(paths_to_read(step)):
        _read_patiently(checkout, paths)


def _read_patiently(checkout: Checkout, paths: list[str]) -> None:
    for pause in _PAUSES:
        try:
            return read_files(checkout=checkout, paths=paths)
        except HostUnavailable:
            time.sleep(pause)
    return read_files(checkout=checkout, paths=paths)


def _batches(paths: list[str]) -> Iterator[list[str]]:
    """So many that their contents are in memory at a time."""
    for start in range(0, len(paths), _BATCH):
        yield paths[start : start + _BATCH]
