"""The logs of replies go when nobody needs them any more."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import User
from ai.generations.types import Piece
from common.ids import uuid7
from conversations.models import Conversation, Message
from conversations.services.sweeps import purge_all_ended_streams, purge_ended_streams
from conversations.tests import manual
from conversations.tests.rows import talk
from events.models import Event, Stream
from events.services import open_stream
from events.tests.streams import session_streams
from tests.personas import new_user
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("providers")


@pytest.fixture
def user(committed: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


def age(reply_id: UUID, minutes: int) -> None:
    """Let the reply have ended so long ago."""
    Job.objects.filter(pk=reply_id).update(ended_at=timezone.now() - timedelta(minutes=minutes))


def test_logs_of_replies_go_some_minutes_after_the_end(user: User) -> None:
    running, fresh, old = (manual.begin(user, talk(user)) for _ in range(3))
    old.write(Piece("text", "Deep."))
    for call, minutes in ((fresh, 9), (old, 11)):
        call.settle("Deep.")
        age(call.id, minutes)
    purge_ended_streams()
    kept = session_streams(user).values_list("pk", flat=True)
    assert set(kept) == {running.id, fresh.id}
    assert not Event.objects.filter(stream=old.id).exists()
    assert Message.objects.get(pk=old.id).content == "Deep."
    running.settle("Deep.")


def test_that_of_a_deleted_conversation_goes_too(user: User) -> None:
    conversation = talk(user)
    call = manual.begin(user, conversation)
    call.settle("Deep.")
    age(call.id, 11)
    Conversation.objects.filter(pk=conversation.pk).update(leaf=None)
    Conversation.objects.get(pk=conversation.pk).delete()
    purge_ended_streams()
    assert not Stream.objects.filter(pk=call.id).exists()


def test_one_whose_job_is_forgotten_goes_too(user: User) -> None:
    call = manual.begin(user, talk(user))
    call.settle("Deep.")
    Job.objects.filter(pk=call.id).delete()
    purge_ended_streams()
    assert not Stream.objects.filter(pk=call.id).exists()


def test_streams_of_other_kinds_stay(user: User) -> None:
    council = uuid7()
    open_stream(stream_id=council, kind="council", account=user)
    purge_ended_streams()
    assert Stream.objects.filter(pk=council).exists()


def test_no_more_than_so_many_go_at_once(user: User) -> None:
    purge_all_ended_streams()  # what other tests have left
    calls = [manual.begin(user, talk(user)) for _ in range(3)]
    for call in calls:
        call.settle("Deep.")
        age(call.id, 11)
    ended = [call.id for call in calls]
    purge_ended_streams(limit=2)
    left = Stream.objects.filter(pk__in=ended).values_list("pk", flat=True)
    # One of another test may have become old enough meanwhile, and be one of the two.
    assert [*left] in (ended[2:], ended[1:])


def test_a_sweep_goes_on_until_nothing_is_left(user: User) -> None:
    purge_all_ended_streams()  # what other tests have left
    calls = [manual.begin(user, talk(user)) for _ in range(5)]
    for call in calls:
        call.settle("Deep.")
        age(call.id, 11)
    assert purge_all_ended_streams(limit=2) == 5
    assert not Stream.objects.filter(pk__in=[call.id for call in calls]).exists()
