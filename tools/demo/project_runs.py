"""Demo runs: three that are finished, and one whose plan waits for its user.

They are written as workers write runs, with the money functions, and with the simulator's answers:
no provider is called, and nothing is spent at one.
"""

from uuid import uuid4

from django.db import transaction

from accounts.models import User
from ai.catalog.pricing import token_cost
from ai.catalog.types import TokenPrice
from ai.generations.endings import conclude
from ai.generations.types import Completion
from ai.inference.holds import hold_request
from ai.providers.token_estimate import estimate_text
from ai.providers.tokens import estimate_input
from ai.providers.types import ToolCall
from billing.services.holds import hold_for_job
from billing.types import Ending
from projects import events
from projects.models import Run, Step
from projects.runner import call_of
from projects.selectors.candidate_models import roster_of
from projects.services import runs
from projects.services.completion import STEP
from projects.services.preparation import Prepared, prepare
from projects.types import MAX_PARALLEL, MAX_SUBTASKS, SHOWN
from simulator import project_authors
from simulator import projects as simulator
from simulator.functions import Function, Offer, Result, Task
from work.jobs.models import Job

FINISHED = (
    "Open a small web shop for bicycle bags, with texts, prices, shipping, and a basket.",
    "Plan a trip along the coast of Norway: two people, ten days in June, by train and ferry.",
    "Should our company of forty move to a four-day week? Write a report for the board.",
)
WAITING = "Make a site for our neighbourhood library, with a page of events and a price list."


def write_runs(user: User) -> int:
    """Write the demo runs of a user who has no runs and may call a model. Returns how many."""
    if Run.objects.filter(account=user).exists() or not roster_of(user):
        return 0
    for goal in FINISHED:
        _write(user, goal)
    _write(user, WAITING, approve_plan=True)
    return len(FINISHED) + 1


@transaction.atomic
def _write(user: User, goal: str, *, approve_plan: bool = False) -> None:
    """Write a run up to its end, or to where it waits for its user."""
    run, _ = runs.start(
        user=user,
        request_key=None,
        goal=goal,
        approve_plan=approve_plan,
        max_subtasks=MAX_SUBTASKS,
        max_parallel=MAX_PARALLEL,
    )
    while (step := run.steps.filter(ended_at=None).order_by("id").first()) is not None:
        carry_out(user, step)


def carry_out(user: User, step: Step) -> None:
    """Make a step as a worker does, with the simulator's answer."""
    Job.objects.filter(pk=step.pk).update(status=Job.Status.RUNNING, attempt=1, owner_id=uuid4())
    prepared = prepare(job_id=step.pk, attempt=1)
    assert prepared is not None  # noqa: S101 - the job runs
    call = call_of(prepared, account_id=user.pk)
    hold_for_job(hold_request(call, step.pk))
    texts = [message.text for message in prepared.messages]
    kind = simulator.kind_of(texts)
    assert kind is not None  # noqa: S101 - it knows all prompts of runs
    calls = _calls_of(prepared, texts)
    text = "" if calls else simulator.answer(kind, texts, prepared.model.id)
    written = "".join([text, *(call.arguments for call in calls)])
    tokens = (estimate_input(prepared.messages), estimate_text(written))
    price = prepared.model.price
    assert isinstance(price, TokenPrice)  # noqa: S101 - a chat model
    shown = prepared.reader.read(text) if step.kind in SHOWN else []
    conclude(
        STEP,
        call_id=step.pk,
        attempt=1,
        ending=Ending(
            step.pk,
            user.pk,
            "settled",
            token_cost(price, *tokens),
            {"tokens_in": tokens[0], "tokens_out": tokens[1]},
        ),
        completion=Completion(
            content=text,
            tool_calls=calls,
            finish_reason="tool_calls" if calls else "stop",
            unsent=events.shown(events.place_of(prepared.step), shown, 0),
        ),
    )


def _calls_of(prepared: Prepared, texts: list[str]) -> tuple[ToolCall, ...]:
    """The functions that the simulator's author calls next on a repository."""
    if prepared.tools is None:
        return ()
    functions = tuple(
        Function(each.name, each.description, each.parameters) for each in prepared.tools.functions
    )
    names = {call.id: call.name for message in prepared.messages for call in message.tool_calls}
    results = tuple(
        Result(names[message.tool_call_id], message.text)
        for message in prepared.messages
        if message.role == "tool"
    )
    task = Task(offer=Offer(functions), results=results)
    calls = project_authors.calls_of(texts, task, prepared.model.id) or []
    step_id = prepared.step.pk.hex
    return tuple(
        ToolCall(f"call_{step_id}_{number}", call.name, call.text)
        for number, call in enumerate(calls)
    )
