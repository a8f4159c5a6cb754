"""Demo runs: three that are finished, and one whose plan waits for its user.

They are written as workers write runs, with the money functions, and with the simulator's answers:
no provider is called, and nothing is spent at one.
"""

from collections.abc import Sequence
from uuid import uuid4

from django.db import transaction

from accounts.models import User
from ai.catalog.pricing import token_cost
from ai.catalog.types import TokenPrice
from ai.generations.endings import conclude
from ai.generations.types import Completion
from ai.inference.errors import UpstreamFailed, failure_of
from ai.inference.holds import hold_request
from ai.providers.token_estimate import estimate_text
from ai.providers.tokens import estimate_input
from ai.providers.types import ToolCall
from billing.services.holds import hold_for_job
from billing.types import Ending
from billing.units import Units
from projects import events
from projects.models import Run, Step
from projects.runner import call_of
from projects.selectors.candidate_models import roster_of
from projects.services import runs
from projects.services.completion import STEP
from projects.services.preparation import Prepared, prepare
from projects.types import MAX_PARALLEL, MAX_SUBTASKS, SHOWN
from simulator import projects as simulator
from simulator.answer import Answer, compose
from simulator.functions import Function, Offer, Result, Task
from simulator.steering import Place, read
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


def carry_out(user: User, step: Step, lines: Sequence[str] = ()) -> None:
    """Make a step as a worker does, with the simulator's answer. `lines` steer the simulator
    (docs/simulator.md), as if they were in the prompt: a call that it refuses fails."""
    Job.objects.filter(pk=step.pk).update(status=Job.Status.RUNNING, attempt=1, owner_id=uuid4())
    prepared = prepare(job_id=step.pk, attempt=1)
    assert prepared is not None  # noqa: S101 - the job runs
    hold_for_job(hold_request(call_of(prepared, account_id=user.pk), step.pk))
    texts = [message.text for message in prepared.messages]
    kind = simulator.kind_of(texts)
    assert kind is not None  # noqa: S101 - it knows all prompts of runs
    model = prepared.model.id
    steering = read([*lines], model, Place(step=kind, subtask=simulator.task_of(texts)))
    if steering.fault == "refuse":
        failure = UpstreamFailed()
        released = Ending(step.pk, user.pk, "released", failure=failure_of(failure))
        _conclude(released, Completion(failure=failure))
        return
    answer = compose(texts, model, steering, bound=None, thoughts=0, task=_task_of(prepared))
    written = estimate_text("".join(answer.spoken))
    _conclude(
        Ending(step.pk, user.pk, "settled", *_used(prepared, written)),
        _completion(prepared, answer),
    )


def _conclude(ending: Ending, completion: Completion) -> None:
    conclude(STEP, call_id=ending.charge_id, attempt=1, ending=ending, completion=completion)


def _used(prepared: Prepared, written: int) -> tuple[int, Units]:
    """The cost of a call that has written so many tokens, and its units."""
    asked, price = estimate_input(prepared.messages), prepared.model.price
    assert isinstance(price, TokenPrice)  # noqa: S101 - a chat model
    return token_cost(price, asked, written), {"tokens_in": asked, "tokens_out": written}


def _completion(prepared: Prepared, answer: Answer) -> Completion:
    step = prepared.step
    calls = tuple(
        ToolCall(f"call_{step.pk.hex}_{number}", call.name, call.text)
        for number, call in enumerate(answer.calls)
    )
    shown = prepared.reader.read(answer.text) if step.kind in SHOWN else []
    return Completion(
        content=answer.text,
        tool_calls=calls,
        finish_reason="tool_calls" if calls else "stop",
        unsent=events.shown(events.place_of(step), shown, 0),
    )


def _task_of(prepared: Prepared) -> Task | None:
    """The functions that an author on a repository is offered, and the results of its calls."""
    if prepared.tools is None:
        return None
    functions = tuple(
        Function(each.name, each.description, each.parameters) for each in prepared.tools.functions
    )
    names = {call.id: call.name for message in prepared.messages for call in message.tool_calls}
    results = tuple(
        Result(names[message.tool_call_id], message.text)
        for message in prepared.messages
        if message.role == "tool"
    )
    return Task(offer=Offer(functions), results=results)
