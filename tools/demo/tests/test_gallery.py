"""`manage.py create_demo_gallery`: the jobs of the studios that `make run` seeds."""

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from accounts.models import User
from billing.services.reconciliation import find_violations
from simulator.process import RunningSimulator
from studios.models import Generation
from studios.tests.artist import Artist, Job, new_artist
from tests.personas import new_user
from tests.service import Web
from tests.worker import Worker
from work.jobs.tests.queueing import wait_until


@pytest.fixture
def alice(
    committed: None, web: Web, worker: Worker, simulator: RunningSimulator
) -> Iterator[Artist]:
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield new_artist(http, simulator, plan="max")


@pytest.fixture(autouse=True)
def demo_seeds(providers: None, settings: Settings) -> None:
    settings.DEMO_SEEDS = True


def create_demo_gallery(user: User) -> str:
    said = StringIO()
    call_command("create_demo_gallery", user.email, stdout=said)
    return said.getvalue()


def gallery(artist: Artist, *, of: int) -> dict[str, list[Job]]:
    """Their jobs once all have ended, the oldest first, by kind."""
    mine = Generation.objects.filter(account=artist.user).order_by("id")
    wait_until(lambda: mine.exclude(ended_at=None).count() == of, seconds=90)
    jobs = [artist.job({"id": str(job.pk)}) for job in mine]
    return {kind: [job for job in jobs if job["kind"] == kind] for kind in ("image", "video", "3d")}


def test_workers_make_one_of_each_and_extend_the_clip(alice: Artist) -> None:
    said = create_demo_gallery(alice.user)

    assert said == f"Ordered a gallery of 4 jobs for {alice.user.email}.\n"
    made = gallery(alice, of=5)
    [pictures, failed], [clip, extended], [asset] = made["image"], made["video"], made["3d"]
    assert [job["status"] for job in (pictures, clip, extended, asset)] == ["completed"] * 4
    assert len(pictures["outputs"]) == 2
    assert extended["parent_job_id"] == clip["id"]
    assert (round(clip["total_seconds"]), round(extended["total_seconds"])) == (4, 11)
    assert asset["outputs"][0]["media_type"] == "model/gltf-binary"
    assert (failed["status"], failed["refunded"]) == ("failed", True)
    assert failed["error"]["code"] == "content_blocked"
    alice.check_money()


def test_each_change_of_a_gallery_is_told_in_the_stream(alice: Artist) -> None:
    create_demo_gallery(alice.user)

    jobs = [job for each in gallery(alice, of=5).values() for job in each]

    for job in jobs:
        names = [name for name, _ in alice.events(job) if name != "job.updated"]
        assert names[0] == "job.created"
        assert names[-1] == f"job.{job['status']}"


@pytest.mark.django_db
class TestWithoutWorkers:
    def test_its_money_is_held(self) -> None:
        alice = new_user("alice", plan="max", balance_usd=50)

        create_demo_gallery(alice)

        assert {job.status for job in Generation.objects.filter(account=alice)} == {"queued"}
        assert find_violations() == []

    def test_who_has_jobs_gets_no_other_ones(self) -> None:
        alice = new_user("alice", plan="max", balance_usd=50)
        create_demo_gallery(alice)

        assert create_demo_gallery(alice) == ""
        assert Generation.objects.filter(account=alice).count() == 4

    def test_nothing_is_ordered_of_a_provider_that_bills(self, settings: Settings) -> None:
        alice = new_user("alice", plan="max", balance_usd=50)
        openai = replace(settings.PROVIDERS["openai"], api_key="sk-of-alice")
        settings.PROVIDERS = {**settings.PROVIDERS, "openai": openai}

        create_demo_gallery(alice)

        models = Generation.objects.filter(account=alice).values_list("model", flat=True)
        assert set(models) == {"veo-3.1", "meshy-6", "flux-2-pro"}

    def test_without_providers_there_is_no_gallery(self, settings: Settings) -> None:
        settings.PROVIDERS = {}

        assert create_demo_gallery(new_user("alice", plan="max", balance_usd=50)) == ""

    def test_who_cannot_pay_for_all_of_it_gets_nothing_and_is_told_why(self) -> None:
        bob = new_user("bob", plan="max", balance_usd=1)

        assert f"{bob.email} gets no gallery: Allowance and balance" in create_demo_gallery(bob)
        assert not Generation.objects.filter(account=bob).exists()

    def test_it_is_for_development_and_for_accounts_that_are_there(
        self, settings: Settings
    ) -> None:
        with pytest.raises(CommandError, match="No account has the address"):
            create_demo_gallery(User(email="nobody@example.com"))
        settings.DEMO_SEEDS = False
        with pytest.raises(CommandError, match="Demo galleries are off here"):
            create_demo_gallery(new_user("alice", plan="max"))
