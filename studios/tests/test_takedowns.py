"""A takedown and what is told of it are one: no crash comes between them."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import connection

from accounts.models import User
from events.models import Event
from media.files.models import StoredFile
from media.files.services.outputs import take_down
from studios.models import Generation, GenerationOutput
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url


def made_by(user: User) -> GenerationOutput:
    """A finished picture with its thumbnail."""
    file, thumbnail = (
        StoredFile.objects.create(account=user, media_type="image/png", size=1) for _ in range(2)
    )
    StoredFile.objects.filter(pk=thumbnail.pk).update(thumbnail_of=file)
    job = Generation.objects.create(account=user, kind="image", model="m", status="completed")
    return GenerationOutput.objects.create(
        generation=job, position=0, file=file, thumbnail=thumbnail, width=1, height=1
    )


def told(user: User) -> list[str]:
    events = Event.objects.filter(stream_id=user.pk).order_by("seq")
    return list(events.values_list("type", flat=True))


@pytest.mark.django_db
@pytest.mark.parametrize("part", ["file", "thumbnail"])
def test_the_event_is_written_with_the_takedown(part: str) -> None:
    """Nothing of this test is ever committed."""
    alice = new_user("alice")
    output = made_by(alice)
    made_by(alice)
    assert take_down(file=getattr(output, part))
    assert told(alice) == ["job.updated"]
    assert not take_down(file=getattr(output, part))
    assert told(alice) == ["job.updated"]


@pytest.mark.usefixtures("committed")
def test_the_job_is_locked_before_its_files() -> None:
    """As where a job is deleted: otherwise the two would wait for each other."""
    alice = new_user("alice")
    output = made_by(alice)
    assert output.file

    def act(file: StoredFile) -> bool:
        try:
            return take_down(file=file)
        finally:
            connection.close()

    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(1) as pool:
        job = (output.generation_id,)
        holder.execute("SELECT FROM studios_generation WHERE id = %s FOR NO KEY UPDATE", job)
        taken = pool.submit(act, output.file)
        wait_until_blocked(holder)
        file = (output.file_id,)
        holder.execute("SELECT FROM files_storedfile WHERE id = %s FOR NO KEY UPDATE NOWAIT", file)
        holder.rollback()
        assert taken.result(timeout=20)

    assert told(alice) == ["job.updated"]
    output.generation.delete()
