"""Messages of the user into a run."""

from uuid import UUID

from django.db import transaction

from accounts.models import User
from events import inbox
from events.types import USER
from projects import events
from projects.selectors.messages import MessageView, from_user
from projects.services.advance import advance
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.services.runs import reopen


@transaction.atomic
def send(*, user: User, run_id: UUID, content: str) -> MessageView:
    """Send a message into a run. The planner answers it, and the next call of any subtask is sent
    it; a paused run keeps it until it is resumed. A run that has completed or failed goes on: where
    the answer changes nothing, it ends as it was.

    Raises NotFound, InvalidState where the run is cancelled, RunLimitReached, ApplyInProgress,
    InboxFull.
    """
    run = lock_run(user, run_id)
    new_events = reopen(run=run, act="send a message into")
    message = from_user(inbox.post(stream_id=run_id, sender=user, body=content), "waiting")
    new_events += [events.message_created(message, USER), *advance(run)]
    append_events(run=run, events=new_events)
    return message
