"""A file that two messages have is kept until both are deleted."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from conversations.models import Attachment, Message
from conversations.tests.rows import talk
from media.files.models import Upload
from media.files.services.uploads import attach, release
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture
def alice() -> User:
    return new_user("alice")


def attached(user: User) -> Upload:
    """An upload of which a message that is being deleted was the only one so far."""
    upload = Upload.objects.create(
        account=user,
        name="notes.txt",
        media_type="text/plain",
        is_text=True,
        size=7,
        expires_at=timezone.now() + timedelta(days=1),
    )
    with transaction.atomic():
        attach(uploads=[upload])
    return upload


def message_of(user: User) -> Message:
    message: Message = talk(user, "See this.").messages.get()
    return message


def let_expire(upload: Upload) -> None:
    with transaction.atomic():
        release(upload_ids=[upload.pk])


def expires(upload: Upload) -> bool:
    upload.refresh_from_db()
    return upload.expires_at is not None


def test_a_file_without_another_message_expires(alice: User) -> None:
    upload = attached(alice)
    let_expire(upload)
    assert expires(upload)


def test_a_file_of_another_message_is_kept(alice: User) -> None:
    upload = attached(alice)
    Attachment.objects.create(message=message_of(alice), upload=upload)
    let_expire(upload)
    assert not expires(upload)


def test_who_releases_waits_for_who_attaches(alice: User) -> None:
    """The one deletes the only message that has it while another message is sent with it."""
    upload, message = attached(alice), message_of(alice)

    def release_it() -> None:
        try:
            let_expire(upload)
        finally:
            connection.close()

    with psycopg.connect(database_url()) as other, ThreadPoolExecutor(1) as threads:
        with other.transaction():
            other.execute("UPDATE files_upload SET expires_at = NULL WHERE id = %s", (upload.pk,))
            sql = "INSERT INTO conversations_attachment (message_id, upload_id) VALUES (%s, %s)"
            other.execute(sql, (message.pk, upload.pk))
            releasing = threads.submit(release_it)
            wait_until_blocked(other)
        releasing.result()
    assert not expires(upload)
