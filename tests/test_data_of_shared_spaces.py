"""What an export and a deletion do with what somebody has written into a space of somebody else:
it is theirs, and others have gone on from it."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from django.core.files.base import ContentFile
from django.db import transaction

from accounts.models import User
from billing.models import Charge, Wallet
from conversations.models import Attachment, Conversation, Message
from conversations.selectors.sharing import snapshot_of
from conversations.services.sharing import share
from conversations.tests import manual
from conversations.tests.rows import ASSISTANT, add
from conversations.tests.sharers import new_shared_row, put_together
from media.files.models import Upload
from media.files.services import uploads
from privacy.tests.deleting import delete_data
from privacy.tests.exporting import archive_of, rows_in
from teams.models import Team
from tests.personas import new_user
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed", "providers")

HIS = "I am Bob Miller, of Harbour Street."


class Talk(NamedTuple):
    """Bob has written `question` with a file into alice's conversation, and has been answered."""

    alice: User
    bob: User
    conversation: Conversation
    question: Message
    answer: Message
    upload: Upload


@pytest.fixture
def talk(committed: None) -> Iterator[Talk]:
    alice, bob = new_user("alice"), new_user("bob", plan="max", balance_usd=5)
    put_together(alice, bob)
    _, conversation = new_shared_row(alice, "write")
    question = add(conversation, HIS, author_id=bob.pk)
    upload = uploads.store(user=bob, name="Miller.txt", file=ContentFile(b"Notes", name="Miller"))
    with transaction.atomic():
        uploads.attach(uploads=[upload])
    Attachment.objects.create(message=question, upload=upload)
    context = {"attachments": [{"id": str(upload.pk), "name": "Miller.txt"}]}
    answer = add(conversation, "Hello.", role=ASSISTANT, author_id=bob.pk, context=context)
    add(conversation, "Who was that?")
    Conversation.objects.filter(pk=conversation.pk).update(title=HIS)
    yield Talk(alice, bob, conversation, question, answer, upload)
    Team.objects.all().delete()


def said_in(conversation: Conversation) -> list[str]:
    return list(conversation.messages.order_by("id").values_list("content", flat=True))


def test_an_export_has_what_somebody_has_said_in_spaces_of_others(talk: Talk) -> None:
    archive = archive_of(talk.bob)
    messages = rows_in(archive, "conversations.message")
    assert [row["content"] for row in messages] == [HIS, "Hello."]
    assert {row["author_id"] for row in messages} == {str(talk.bob.pk)}
    [attachment] = rows_in(archive, "conversations.attachment")
    assert attachment["upload_id"] == str(talk.upload.pk)
    assert archive.read(f"files/uploads/{talk.upload.pk} Miller.txt") == b"Notes"
    assert rows_in(archive, "conversations.conversation") == []


def test_the_owner_s_export_has_the_whole_conversation_and_no_file_of_others(talk: Talk) -> None:
    archive = archive_of(talk.alice)
    said = [row["content"] for row in rows_in(archive, "conversations.message")]
    assert said == [HIS, "Hello.", "Who was that?"]
    assert not [name for name in archive.namelist() if name.startswith("files/")]


def test_the_words_of_a_deleted_author_are_overwritten_and_the_conversation_stays(
    talk: Talk,
) -> None:
    delete_data(talk.bob)
    assert said_in(talk.conversation) == ["(deleted)", "Hello.", "Who was that?"]
    talk.question.refresh_from_db()
    assert talk.question.author_id == talk.bob.pk  # whose row has no name and no address
    talk.bob.refresh_from_db()
    assert (talk.bob.name, talk.bob.status) == ("", "deleted")
    talk.conversation.refresh_from_db()
    assert talk.conversation.characters == sum(map(len, said_in(talk.conversation)))
    assert talk.conversation.messages_count == 3


def test_the_files_of_a_deleted_author_go_and_their_names(talk: Talk) -> None:
    delete_data(talk.bob)
    assert not Upload.objects.filter(pk=talk.upload.pk).exists()
    talk.answer.refresh_from_db()
    assert talk.answer.context["attachments"][0]["name"] == "(deleted)"


def test_a_title_made_of_the_words_of_a_deleted_author_goes(talk: Talk) -> None:
    delete_data(talk.bob)
    talk.conversation.refresh_from_db()
    assert talk.conversation.title == "(deleted)"


def test_a_title_that_somebody_has_given_stays(talk: Talk) -> None:
    Conversation.objects.filter(pk=talk.conversation.pk).update(title="Sea", title_source="user")
    delete_data(talk.bob)
    talk.conversation.refresh_from_db()
    assert talk.conversation.title == "Sea"


def test_the_link_of_the_owner_shows_no_words_of_a_deleted_author(talk: Talk) -> None:
    talk.conversation.refresh_from_db()
    published, _ = share(user=talk.alice, conversation_id=talk.conversation.pk)
    assert HIS in str(published.snapshot)
    delete_data(talk.bob)
    published.refresh_from_db()
    assert "Miller" not in str(published.snapshot)
    talk.conversation.refresh_from_db()
    assert published.snapshot == snapshot_of(talk.conversation)


@pytest.mark.parametrize(
    ("source", "shown"),
    [("first_message", "(deleted)"), ("model", "(deleted)"), ("user", "Miller")],
)
def test_the_link_shows_no_title_that_a_model_has_made_of_the_words_of_a_deleted_author(
    talk: Talk, source: str, shown: str
) -> None:
    title = {"title": "Miller", "title_source": source}
    Conversation.objects.filter(pk=talk.conversation.pk).update(**title)
    published, _ = share(user=talk.alice, conversation_id=talk.conversation.pk)
    assert published.snapshot["title"] == (HIS if source == "first_message" else "Miller")
    delete_data(talk.bob)
    published.refresh_from_db()
    assert published.snapshot["title"] == shown


def test_the_deletion_of_an_owner_deletes_what_others_have_written_there(talk: Talk) -> None:
    running = add(talk.conversation, "", role=ASSISTANT, author_id=talk.bob.pk, status="running")
    job = Job.objects.create(
        pk=running.pk, kind="chat.reply", queue="default", account=talk.bob, status="queued"
    )
    delete_data(talk.alice)
    assert not Message.objects.filter(conversation=talk.conversation.pk).exists()
    job.refresh_from_db()
    assert job.status == "cancelled"
    talk.upload.refresh_from_db()
    assert talk.upload.expires_at is not None  # purged soon, as no message has it
    assert talk.upload.account_id == talk.bob.pk


def test_a_reply_that_outlives_the_data_of_the_owner_ends_and_is_paid_once(talk: Talk) -> None:
    call = manual.begin(talk.bob, talk.conversation)
    delete_data(talk.alice)
    call.settle("Because.")
    assert Charge.objects.get(pk=call.id).status == Charge.Status.SETTLED
    assert Wallet.objects.get(account=talk.bob).held == 0
    assert Job.objects.get(pk=call.id).status == "completed"


def test_the_owner_s_export_does_not_have_what_members_have_paid(talk: Talk) -> None:
    call = manual.begin(talk.bob, talk.conversation)
    call.settle("Because.")
    [ended] = [
        row for row in rows_in(archive_of(talk.bob), "events.event") if row["type"] == "reply.ended"
    ]
    assert "usage" in str(ended)
    assert call.id.hex not in str(rows_in(archive_of(talk.alice), "events.stream")).replace("-", "")
    assert "usage" not in str(rows_in(archive_of(talk.alice), "events.event"))
