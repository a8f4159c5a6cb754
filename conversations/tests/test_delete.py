"""DELETE /api/conversations/{id}: gone for good."""

import time
from typing import Any
from uuid import uuid4

from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from billing.models import Charge
from conftest import Persona
from conversations.models import Attachment, Conversation, Message, Share
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import ASSISTANT, add, talk
from conversations.tests.speaker import BALANCE_ONLY, Speaker
from events.models import Event
from media.files.models import Upload
from tests.stopwatch import Stopwatch
from work.jobs.models import Job

CONVERSATIONS = "/api/conversations"


def delete(persona: Persona, conversation: Conversation) -> Any:
    return persona.client.delete(f"{CONVERSATIONS}/{conversation.pk}")


def attach(message: Message, *uploads: Upload) -> None:
    for upload in uploads:
        Attachment.objects.create(message=message, upload=upload)


def new_upload(persona: Persona) -> Upload:
    return Upload.objects.create(
        account=persona.user, name="a.txt", media_type="text/plain", is_text=True, size=7
    )


def test_it_is_gone_with_its_messages_of_all_branches_and_its_link(alice: Persona) -> None:
    sea, other = talk(alice.user, "How deep?", "Very."), talk(alice.user, "How high?")
    add(sea, "Deep.", role=ASSISTANT, parent=sea.messages.order_by("id")[0])
    Share.objects.create(conversation=sea, snapshot={})

    answer = delete(alice, sea)

    assert (answer.status_code, answer.content) == (204, b"")
    assert alice.client.get(f"{CONVERSATIONS}/{sea.pk}").status_code == 404
    assert delete(alice, sea).status_code == 404
    assert list(Conversation.objects.all()) == [other]
    assert [message.content for message in Message.objects.all()] == ["How high?"]
    assert not Share.objects.exists()


def test_files_that_nothing_else_has_may_be_purged(alice: Persona) -> None:
    sea, other = talk(alice.user, "How deep?"), talk(alice.user, "How high?")
    own, shared = new_upload(alice), new_upload(alice)
    attach(sea.messages.get(), own, shared)
    attach(other.messages.get(), shared)

    delete(alice, sea)

    own.refresh_from_db()
    shared.refresh_from_db()
    assert own.expires_at is not None
    assert own.expires_at <= timezone.now()
    assert shared.expires_at is None
    delete(alice, other)
    shared.refresh_from_db()
    assert shared.expires_at is not None


def test_a_long_one_goes_a_hundred_messages_at_a_time(
    alice: Persona, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sea = talk(alice.user)
    parent = None
    rows = []
    for number in range(2_000):
        parent = Message(
            conversation=sea,
            account_id=alice.user.pk,
            role=ASSISTANT if number % 2 else "user",
            content="Deep.",
            parent=parent,
        )
        rows.append(parent)
    Message.objects.bulk_create(rows)
    Conversation.objects.update(leaf=parent)

    with django_assert_max_num_queries(50):
        assert delete(alice, sea).status_code == 204

    assert not Message.objects.exists()


def test_one_of_somebody_else_is_not_there(alice: Persona, bob: Persona) -> None:
    sea = talk(alice.user, "How deep?")

    assert delete(bob, sea).status_code == 404
    assert bob.client.delete(f"{CONVERSATIONS}/{uuid4()}").status_code == 404
    assert Message.objects.count() == 1


def test_a_reply_that_runs_is_stopped_and_billed_for_what_has_come(speaker: NewSpeaker) -> None:
    alice = speaker(plan="max")
    conversation = alice.begin(model=BALANCE_ONLY)
    content = alice.words(tokens=2_000, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("text-delta")
        answer = alice.ask("DELETE", f"/{conversation}")
        heard = stream.to_the_end()

    assert answer.status_code == 204
    assert heard.types[-2:] == ["finish", "[DONE]"]
    charge = ended(alice, heard.reply_id)
    assert charge.status == Charge.Status.SETTLED
    assert 0 < charge.tokens_out < 2_000
    assert charge.charge_balance > 0
    assert Job.objects.get(pk=heard.reply_id).status == Job.Status.CANCELLED
    assert alice.ask("GET", f"/{conversation}").status_code == 404


def test_before_any_output_its_reader_is_released_and_the_first_output_billed(
    speaker: NewSpeaker,
) -> None:
    alice = speaker(plan="max")
    conversation = alice.begin(model=BALANCE_ONLY)
    content = alice.words(tokens=2_000, ttft_ms=2000, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("start")
        assert alice.ask("DELETE", f"/{conversation}").status_code == 204
        with Stopwatch() as watch:
            heard = stream.to_the_end()
    assert watch.seconds < 1.5
    assert heard.finish["messageMetadata"] == {"status": "cancelled", "usage": None}
    charge = ended(alice, heard.reply_id)
    assert charge.status == Charge.Status.SETTLED
    assert 0 < charge.tokens_out < 100
    assert Event.objects.filter(stream_id=heard.reply_id).count() == 1


def ended(person: Speaker, reply_id: str) -> Charge:
    """The charge of a reply, when it has ended."""
    deadline = time.monotonic() + 20
    while (charge := person.charge(reply_id)).status == Charge.Status.HELD:
        assert time.monotonic() < deadline, "It is still held."
        time.sleep(0.05)
    return charge
