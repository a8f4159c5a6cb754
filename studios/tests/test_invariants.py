"""The invariants of generations find what must never be."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from billing.models import Charge
from billing.services import reconciliation
from media.files.models import StoredFile
from studios.models import Generation, GenerationOutput
from studios.tests.artist import Artist, Job
from studios.tests.conftest import NewArtist
from work.jobs.models import Job as JobRow

Change = Callable[[UUID], object]


def change_generation(job_id: UUID, **fields: object) -> None:
    Generation.objects.filter(pk=job_id).update(**fields)


def change_job(job_id: UUID, **fields: object) -> None:
    JobRow.objects.filter(pk=job_id).update(**fields)


def purge_job(job_id: UUID) -> None:
    JobRow.objects.filter(pk=job_id).delete()


def purge_files(job_id: UUID) -> None:
    outputs = GenerationOutput.objects.filter(generation=job_id)
    outputs.update(file=None, thumbnail=None)


def the_generation_goes_on(job_id: UUID) -> None:
    change_generation(job_id, ended_at=None, status="running")


def the_generation_has_another_end(job_id: UUID) -> None:
    change_generation(job_id, status="failed")


def the_generation_is_deleted(job_id: UUID) -> None:
    change_generation(job_id, deleted_at=timezone.now())


def the_job_goes_on(job_id: UUID) -> None:
    change_job(job_id, ended_at=None, status="scheduled")


def the_job_goes_on_without_a_generation(job_id: UUID) -> None:
    the_job_goes_on(job_id)
    Generation.objects.filter(pk=job_id).delete()


def the_generation_has_outlived_its_job(job_id: UUID) -> None:
    the_generation_goes_on(job_id)
    purge_job(job_id)


def the_end_is_not_in_the_status(job_id: UUID) -> None:
    change_generation(job_id, status="running")


def the_generation_runs_before_its_job(job_id: UUID) -> None:
    the_generation_goes_on(job_id)
    change_job(job_id, ended_at=None, status="queued")


def there_is_no_result(job_id: UUID) -> None:
    GenerationOutput.objects.filter(generation=job_id).delete()


def the_result_is_not_kept(job_id: UUID) -> None:
    files = GenerationOutput.objects.filter(generation=job_id).values("file")
    StoredFile.objects.filter(pk__in=files).update(is_kept=False)


def the_thumbnail_is_not_kept(job_id: UUID) -> None:
    files = GenerationOutput.objects.filter(generation=job_id).values("thumbnail")
    StoredFile.objects.filter(pk__in=files).update(is_kept=False)


def nothing_is_billed(job_id: UUID) -> None:
    Charge.objects.filter(pk=job_id).update(status="released")


TOGETHER, BILLED = "generation_and_job_end_together", "generation_and_charge_end_together"
FAULTS: tuple[tuple[Change, str], ...] = (
    (the_generation_goes_on, TOGETHER),
    (the_generation_has_another_end, TOGETHER),
    (the_generation_is_deleted, TOGETHER),
    (the_job_goes_on, TOGETHER),
    (the_job_goes_on_without_a_generation, TOGETHER),
    (the_generation_has_outlived_its_job, TOGETHER),
    (the_end_is_not_in_the_status, "generation_status"),
    (the_generation_runs_before_its_job, "generation_status"),
    (there_is_no_result, "generation_results"),
    (the_generation_has_another_end, "generation_results"),
    (the_result_is_not_kept, "results_are_kept"),
    (the_thumbnail_is_not_kept, "results_are_kept"),
    (nothing_is_billed, BILLED),
    (the_generation_has_another_end, BILLED),
)


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


def broken_by(change: Change, job: Job) -> set[str]:
    """The invariants that a change breaks. Nothing of it stays."""
    with transaction.atomic():
        change(UUID(job["id"]))
        broken = {violation.invariant.name for violation in reconciliation.find_violations()}
        transaction.set_rollback(True)
    return broken


def test_each_fault_is_found(alice: Artist) -> None:
    job = alice.made("flux-2-pro")

    missed = [change.__name__ for change, by in FAULTS if by not in broken_by(change, job)]

    assert missed == []


def test_the_purge_of_an_old_job_is_no_fault(alice: Artist) -> None:
    assert broken_by(purge_job, alice.made("flux-2-pro")) == set()


def test_the_purge_of_a_file_is_no_fault(alice: Artist) -> None:
    assert broken_by(purge_files, alice.made("flux-2-pro")) == set()
