"""What becomes of a run of each status by each act of its user: the table in docs/api/projects.md,
tried in the database."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction

from common.errors import DomainError
from projects.errors import NothingStaged
from projects.models import Run
from projects.request_serializers import ControlInputSerializer
from projects.services import applies, edits, finishing, messages, runs, subtasks
from projects.services.settings import change_settings
from projects.tests.world import World
from projects.types import ENDED, PauseReason, RunStatus
from tests.documents import assert_same, section

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("providers")]

PAGE = Path(settings.BASE_DIR) / "docs" / "api" / "projects.md"
TITLE = "What becomes of a run"


def acts(world: World) -> dict[str, Callable[[], object]]:
    """By the words of the table."""
    whose: dict[str, Any] = {"user": world.alice, "run_id": world.run.pk}
    part = world.run.subtasks.order_by("position").first()
    first = part.pk if part is not None else world.run.pk  # a part that is not there
    added = [{"key": "x", "title": "X", "instructions": "Write."}]
    return {
        "`pause`": lambda: runs.pause_run(**whose),
        "`resume`": lambda: runs.resume(**whose),
        "`cancel`": lambda: runs.cancel(**whose),
        "`finish`": lambda: finishing.finish(**whose),
        "`rewrite`": lambda: finishing.rewrite(**whose),
        "message": lambda: messages.send(**whose, content="Mind the whales."),
        "reassign": lambda: subtasks.reassign(**whose, subtask_id=first, model="gpt-6-luna"),
        "replace": lambda: subtasks.replace(**whose, subtask_id=first, content="Mine."),
        "plan": lambda: edits.edit_plan(**whose, changes={"add": added}),
        "apply": lambda: applies.apply_changes(**whose, request_key=None),
        "budget": lambda: change_settings(**whose, budget=10**10),
    }


def of_status(status: RunStatus) -> World:
    """A run as it is in that status: before its plan, with two of its parts done, or with all."""
    world = World(max_parallel=2, budget_usd=None, approve_plan=False)
    if status == RunStatus.QUEUED:
        return world
    while world.active() if status in ENDED else world.run.deliverables.count() < 2:
        world.end(0, "good")
    while status == RunStatus.PAUSED and world.active():
        world.end(0, "refused")
    reason = PauseReason.INSUFFICIENT_BALANCE if status == RunStatus.PAUSED else ""
    Run.objects.filter(pk=world.run.pk).update(status=status, pause_reason=reason)
    return world


def became(world: World, before: RunStatus, act: Callable[[], object]) -> str:
    """The status after an act, or the code of its refusal. It is undone."""
    try:
        with transaction.atomic():
            act()
            status = Run.objects.values_list("status", flat=True).get(pk=world.run.pk)
            transaction.set_rollback(True)
    except NothingStaged:
        return "stays"  # what is staged would be written
    except DomainError as refusal:
        return f"`{refusal.code}`"
    return "stays" if status == before else status


def table() -> tuple[list[str], list[list[str]]]:
    """The statuses, and for each act its name and what becomes of a run."""
    lines = [line for line in section(PAGE, TITLE).splitlines() if line.startswith("| ")]
    head, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [cell.strip("`") for cell in head[1:]], body


@pytest.mark.parametrize("status", RunStatus)
def test_the_table_tells_what_becomes_of_a_run(status: RunStatus) -> None:
    statuses, body = table()
    column = statuses.index(status) + 1
    world = of_status(status)
    tried = [f"{name}: {became(world, status, act)}" for name, act in acts(world).items()]
    stated = [f"{row[0]}: {row[column]}" for row in body]
    assert_same(stated, tried, f"docs/api/projects.md, {TITLE}, {status}")


def test_the_table_has_each_status_and_each_word_of_control() -> None:
    statuses, body = table()
    assert statuses == list(RunStatus)
    words = ControlInputSerializer().fields["action"].choices  # type: ignore[attr-defined]
    assert {f"`{word}`" for word in words} <= {row[0] for row in body}
