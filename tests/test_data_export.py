"""A worker makes an export: the file is served by its link, and a worker that dies costs nothing
but time."""

import httpx
import pytest
from django.core.files.base import ContentFile

from billing.tests import bank
from conversations.tests.rows import talk
from events.models import Event
from media.files.services import uploads
from privacy.models import Export
from privacy.tests.exporting import ask, download, rows_in, wait_for_end
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.service import Web
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tests.queueing import job_of, wait_until

pytestmark = pytest.mark.usefixtures("committed")


def test_the_file_of_a_finished_export_is_downloaded(web: Web, simulator: RunningSimulator) -> None:
    alice = new_user("alice")
    talk(alice, "Why is the sea blue?", "Because of the light.")
    file = ContentFile(b"My notes", name="notes.txt")
    upload = uploads.store(user=alice, name="notes.txt", file=file)
    with running_worker(simulator):
        export = ask(web, alice)
        done = wait_for_end(web, alice)

    assert (done["id"], done["status"]) == (export["id"], "completed")
    archive = download(done)
    assert archive.testzip() is None
    messages = rows_in(archive, "conversations.message")
    assert [row["content"] for row in messages] == ["Why is the sea blue?", "Because of the light."]
    assert archive.read(f"files/uploads/{upload.pk} notes.txt") == b"My notes"
    types = Event.objects.filter(stream_id=alice.pk).values_list("type", flat=True)
    assert list(types.order_by("seq")) == ["export.created", "export.completed"]


def test_the_link_is_saved_and_not_shown(web: Web, simulator: RunningSimulator) -> None:
    alice = new_user("alice")
    with running_worker(simulator):
        ask(web, alice)
        done = wait_for_end(web, alice)
    answer = headers_of(done["url"])
    assert answer["content-type"] == "application/zip"
    assert answer["content-disposition"].startswith("attachment; ")
    assert int(answer["content-length"]) == done["size"]


def headers_of(url: str) -> dict[str, str]:
    """The headers of the answer."""
    return dict(httpx.get(url).headers)


def test_a_killed_worker_is_followed_by_another_and_one_export_results(
    web: Web, simulator: RunningSimulator
) -> None:
    alice = new_user("alice")
    for number in range(40):
        file = ContentFile(bytes(1_000_000), name="big")
        uploads.store(user=alice, name=f"{number}", file=file)
    with running_worker(simulator) as doomed:
        export = ask(web, alice)
        job_id = Export.objects.get(pk=export["id"]).pk
        wait_until(lambda: job_of(job_id).status == Job.Status.RUNNING or None)
        doomed.kill()
    owner = job_of(job_id).owner_id
    assert owner is not None
    assert job_of(job_id).status == Job.Status.RUNNING
    bank.kill(owner)
    end_lost_jobs()
    assert job_of(job_id).status == Job.Status.QUEUED

    with running_worker(simulator):
        done = wait_for_end(web, alice)

    assert (done["id"], done["status"], job_of(job_id).attempt) == (export["id"], "completed", 2)
    assert len([name for name in download(done).namelist() if name.startswith("files/")]) == 40
    assert Export.objects.filter(account=alice).count() == 1
