"""Plans become subtasks, and change."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from common.titles import first_line
from events.types import USER, NewEvent
from projects import events
from projects.json_answers import find_object
from projects.models import Run, Subtask
from projects.plans import Known, Plan, PlannedSubtask, UnsoundPlan, read_plan, whole_goal
from projects.selectors.answers import text_before
from projects.selectors.candidate_models import assign, roster_of_run
from projects.selectors.sources import nameable_files
from projects.services import final_text
from projects.sound_parts import sound_part
from projects.types import (
    MAX_TITLE,
    WITHOUT_RESULT,
    AssignedBy,
    Outcome,
    StepKind,
    SubtaskStatus,
)

_PLANNING = (StepKind.PLAN, StepKind.REPAIR)

_TEXTS = ("title", "instructions", "output")
_LISTS = ("acceptance", "depends_on", "reads", "writes")
_FIELDS = (*_TEXTS, *_LISTS, "model", "max_output_tokens")
# Those of a subtask in a plan.
FIELDS = frozenset({"key", *_FIELDS})

Raw = dict[str, Any]


def known_to_planner(run: Run) -> Known:
    """What the planner of a run may name in a plan. Without a repository it does not matter what a
    subtask reads: every author is shown the uploads."""
    return Known(
        roster=[model.id for model in roster_of_run(run)],
        max_subtasks=run.max_subtasks,
        may_choose=True,
        files=nameable_files(run) if run.checkout is not None else None,
    )


def _known_to(run: Run, actor: str, changed: Collection[str]) -> Known:
    """What who changes a plan may name in it, whose subtasks `changed` are changed."""
    rows = run.rows.subtasks.values()
    known = known_to_planner(run)
    if actor == USER:
        known = replace(known, may_choose=False, files=nameable_files(run))
    return replace(
        known,
        roster={*known.roster, *(row.model for row in rows)},
        settled={row.key for row in rows} - {*changed},
    )


def adopt(*, run: Run, plan: Plan, actor: str, reason: str = "") -> list[NewEvent]:
    """Make a plan the run's first one. Returns the events."""
    run.has_plan, run.bad_plans = True, 0
    _save_words(run, plan)
    run.save(update_fields=["has_plan", "bad_plans"])
    assigned = assign(plan, roster_of_run(run))
    created = [
        _create(run, planned, position, *assigned[planned.key])
        for position, planned in enumerate(plan.subtasks)
    ]
    run.rows.arrange(created)
    return [
        events.plan_event("created", run, actor, reason, plan.notes),
        *(events.subtask_event("created", subtask, actor) for subtask in created),
    ]


def adopt_remains(*, run: Run, actor: str) -> list[NewEvent]:
    """Make the run's first plan of what is sound of the planner's answers, the latest first; where
    nothing is, of the goal itself. Returns the events."""
    known = known_to_planner(run)
    answers = run.steps.filter(kind__in=_PLANNING, outcome=Outcome.DONE, goes_on=False)
    for answer in answers.order_by("-id"):
        if plan := sound_part(find_object(text_before(answer) + answer.content), known):
            return adopt(run=run, plan=plan, actor=actor, reason="partial")
    only = whole_goal(first_line(run.goal, MAX_TITLE))
    return adopt(run=run, plan=only, actor=actor, reason="fallback")


def change(
    *,
    run: Run,
    actor: str,
    add: Sequence[Raw] = (),
    change: Sequence[Raw] = (),
    remove: Sequence[str] = (),
    order: Sequence[str] = (),
    words: Mapping[str, str] | None = None,
) -> list[NewEvent]:
    """Change the plan of a run, all of it or nothing. Returns the events.

    `add` are new subtasks, `change` fields of subtasks by their `key`, `remove` keys; only subtasks
    that are queued can be changed, and only those and the ones that have ended without a result can
    be removed. `order` are keys, those that are to come first.
    `words` are `title`, `summary` and `final_instructions` of the plan. With new subtasks or other
    final instructions the final text is written again.

    Raises UnsoundPlan.
    """
    rows = {row.key: row for row in run.rows.subtasks.values()}
    whole = {**_words(run, words or {}), "subtasks": _merged(rows, add, change, remove, order)}
    roster = roster_of_run(run)
    changed = {str(each["key"]) for each in change}
    plan = read_plan(whole, _known_to(run, actor, changed))
    _check_begun(rows, plan)
    kept = {each.key for each in plan.subtasks}
    has_more = not kept <= rows.keys()
    if has_more:
        final_text.wait_for_more(run=run)
    is_final_outdated = has_more or plan.final_instructions != run.final_instructions
    final_events = final_text.discard(run=run) if is_final_outdated else []
    _save_words(run, plan)
    removed = [row for key, row in rows.items() if key not in kept]
    removed_events = [events.subtask_removed(row.pk, actor) for row in removed]
    run.subtasks.filter(pk__in=[row.pk for row in removed]).delete()
    new_events = _write(run, rows, plan, changed, assign(plan, roster), actor)
    return [
        *final_events,
        *removed_events,
        *new_events,
        events.plan_event("updated", run, actor, notes=plan.notes),
    ]


def _save_words(run: Run, plan: Plan) -> None:
    run.plan_title, run.plan_summary = plan.title, plan.summary
    run.final_instructions = plan.final_instructions
    run.save(update_fields=["plan_title", "plan_summary", "final_instructions"])


def _words(run: Run, changes: Mapping[str, str]) -> Raw:
    """The words of the plan as JSON, with the changes."""
    return {
        "title": changes.get("title", run.plan_title),
        "summary": changes.get("summary", run.plan_summary),
        "final": {"instructions": changes.get("final_instructions", run.final_instructions)},
    }


def _merged(
    rows: Mapping[str, Subtask],
    add: Sequence[Raw],
    change: Sequence[Raw],
    remove: Sequence[str],
    order: Sequence[str],
) -> list[Raw]:
    """The subtasks of the plan as JSON, with the changes. Raises UnsoundPlan."""
    changeable = {key for key, row in rows.items() if row.status == SubtaskStatus.QUEUED}
    removable = {key for key, row in rows.items() if row.status in WITHOUT_RESULT} | changeable
    faults = [
        f'Subtask "{key[:40]}" does not exist, or has begun: it cannot be changed.'
        for key in (str(each.get("key")) for each in change)
        if key not in changeable
    ]
    faults += [
        f'Subtask "{key[:40]}" does not exist, or runs or has a result: it cannot be removed.'
        for key in remove
        if key not in removable
    ]
    if faults:
        raise UnsoundPlan(faults)
    changes = {each["key"]: each for each in change}
    ordered = sorted(rows.values(), key=lambda each: each.position)
    ranks = {key: rank for rank, key in enumerate(order)}
    ordered.sort(key=lambda each: ranks.get(each.key, len(ranks)))
    kept = [
        {**raw(row), **_given(changes.get(row.key, {}))} for row in ordered if row.key not in remove
    ]
    return [*kept, *add]


def raw(row: Subtask) -> Raw:
    """A subtask as a plan has it."""
    return {"key": row.key, **{name: getattr(row, name) for name in _FIELDS}}


def _given(change: Raw) -> Raw:
    return {name: change[name] for name in _FIELDS if name in change}


def _check_begun(rows: Mapping[str, Subtask], plan: Plan) -> None:
    """What has begun depends on what it did. Raises UnsoundPlan."""
    faults = [
        f'Subtask "{each.key}" has begun, and cannot depend on others than before.'
        for each in plan.subtasks
        if each.key in rows
        and rows[each.key].status != SubtaskStatus.QUEUED
        and set(each.depends_on) != set(rows[each.key].depends_on)
    ]
    if faults:
        raise UnsoundPlan(faults)


def _write(
    run: Run,
    rows: Mapping[str, Subtask],
    plan: Plan,
    changed: set[str],
    assigned: Mapping[str, tuple[str, AssignedBy]],
    actor: str,
) -> list[NewEvent]:
    """Write the subtasks of a plan that has changed. Returns their events."""
    new_events: list[NewEvent] = []
    arranged = []
    for position, planned in enumerate(plan.subtasks):
        row = rows.get(planned.key)
        if row is None:
            created = _create(run, planned, position, *assigned[planned.key])
            arranged.append(created)
            new_events.append(events.subtask_event("created", created, actor))
            continue
        arranged.append(row)
        was = (row.position, *(getattr(row, name) for name in _FIELDS))
        _fill(row, planned, position)
        if planned.model is not None and planned.model != row.model:
            row.model = planned.model
            row.assigned_by = AssignedBy.USER if actor == USER else AssignedBy.PLAN
        if was != (row.position, *(getattr(row, name) for name in _FIELDS)):
            row.save()
            if planned.key in changed:
                new_events.append(events.subtask_event("updated", row, actor))
    run.rows.arrange(arranged)
    return new_events


def _create(
    run: Run, planned: PlannedSubtask, position: int, model: str, assigned_by: AssignedBy
) -> Subtask:
    subtask = Subtask(run=run, key=planned.key, model=model, assigned_by=assigned_by)
    _fill(subtask, planned, position)
    subtask.save()
    return subtask


def _fill(row: Subtask, planned: PlannedSubtask, position: int) -> None:
    row.position = position
    for name in _TEXTS:
        setattr(row, name, getattr(planned, name))
    for name in _LISTS:
        setattr(row, name, [*getattr(planned, name)])
    row.max_output_tokens = planned.max_output_tokens
