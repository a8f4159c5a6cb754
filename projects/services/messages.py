"""Messages of the user into a run."""

from uuid import UUID

from django.db import transaction

from accounts.models import User
from billing.services import idempotency
from billing.types import RequestKey
from events import inbox
from events.types import USER
from projects import events
from projects.models import Run
from projects.selectors.messages import MessageView, from_user, messages_of
from projects.services.advance import advance
from projects.services.locks import lock_run, lock_step_alone
from projects.services.log import append_events
from projects.services.runs import reopen


@transaction.atomic
def send(
    *, user: User, run_id: UUID, content: str, request_key: RequestKey | None = None
) -> tuple[MessageView, bool]:
    """Send a message into a run. The planner answers it, and the next call of any subtask is sent
    it; a paused run keeps it until it is resumed. A run that has completed or failed goes on: where
    the answer changes nothing, it ends as it was. Returns the message, and whether an earlier
    request with that key has sent it.

    Raises NotFound, InvalidState where the run is cancelled, RunLimitReached, ApplyInProgress,
    InboxFull, IdempotencyMismatch.
    """
    sent = idempotency.claim(account=user, request_key=request_key)
    run = lock_run(user, run_id)
    if sent is not None:
        return _sent_before(run, sent.int), True
    new_events = reopen(run=run, act="send a message into")
    message = from_user(inbox.post(stream_id=run_id, sender=user, body=content), "waiting")
    new_events += [events.message_created(message, USER), *advance(run)]
    append_events(run=run, events=new_events)
    if request_key is not None:
        # A message has no id: within the run, which the key is bound to, it is known by its number.
        result = UUID(int=message.number)
        idempotency.store(account=user, request_key=request_key, result=result)
    return message, False


def _sent_before(run: Run, number: int) -> MessageView:
    sent = (each for each in messages_of(run) if each.role == "user")
    return next(each for each in sent if each.number == number)


@transaction.atomic
def mark_delivered(*, step_id: UUID, up_to: int) -> None:
    """Mark the messages up to that number as sent to a model: the call of the step, whose prompt
    has them, is paid for. May be repeated."""
    step = lock_step_alone(step_id)
    if step is None:
        return
    run = step.run
    state = run.rows.inbox
    numbers = [each.number for each in state.messages if state.read_number < each.number <= up_to]
    if not numbers:
        return
    inbox.mark_read(stream_id=run.pk, up_to=up_to)
    to = step.subtask.key if step.subtask is not None else "planner"
    append_events(run=run, events=[events.messages_delivered(numbers, to)])
