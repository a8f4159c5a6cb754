"""What a worker counts, and what the beat reads out of the stores."""

import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.utils.module_loading import import_string
from redis import Redis

from billing.tasks import reconcile
from common.models import Sweep
from common.sweeps import sweep
from config.store_metrics import SWEEPS
from council.tests.owner import BALANCE_ONLY, new_owner
from devserver.paths import ROOT
from devserver.ports import free_port
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.documents import rows, section
from tests.own_redis import OwnRedis
from tests.scrape import Scraped, scrape
from tests.service import Web
from tests.worker import running_beat, running_worker
from work.jobs.models import Job

PAGE = ROOT / "docs" / "operations" / "metrics.md"
OF_THE_BEAT = {"platform_queued_jobs", "platform_held_usd", "platform_money_violations"}


def answers(port: int) -> Scraped | None:
    try:
        return scrape(port)
    except httpx.HTTPError:
        return None


@pytest.fixture
def nothing_waits(committed: None) -> None:
    """No job that another test has left is queued: a worker would do it, and the beat count it."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.delete("interactive", "media", "default")
    Job.objects.filter(status=Job.Status.QUEUED).update(
        status=Job.Status.CANCELLED, ended_at=datetime.now(UTC)
    )


@pytest.mark.usefixtures("nothing_waits")
def test_a_worker_counts_the_calls_of_its_jobs(simulator: RunningSimulator, web: Web) -> None:
    port = free_port()
    with (
        running_worker(simulator, METRICS_PORT=str(port)),
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        new_owner(http, web, simulator).finished(BALANCE_ONLY)
        wait_for(lambda: scrape(port).total("platform_calls_total", status="settled") == 1)
        scraped = scrape(port)
        assert scraped.value("platform_process_info", kind="worker") == 1
        assert scraped.total("platform_calls_total", model=BALANCE_ONLY, kind="chat") == 1
        assert scraped.total("platform_billed_usd_total", payer="balance") > 0
        # Only the beat reads the stores.
        names = {name for name, _ in scraped.series}
        assert names.isdisjoint(OF_THE_BEAT)
        assert {name for cells in rows(section(PAGE, "Stores")) for name in cells} >= OF_THE_BEAT


@pytest.mark.usefixtures("nothing_waits")
def test_the_beat_says_what_waits_in_the_stores(
    simulator: RunningSimulator, web: Web, tmp_path: Path
) -> None:
    port = free_port()
    reconcile()
    with (
        httpx.Client(base_url=web.url, timeout=30) as http,
        running_beat(simulator, tmp_path, METRICS_PORT=str(port)),
    ):
        owner = new_owner(http, web, simulator)
        session = owner.start(BALANCE_ONLY)
        wait_for(lambda: answers(port), seconds=30)

        def value(name: str, **labels: str) -> float:
            return scrape(port).value(f"platform_{name}", **labels)

        wait_for(lambda: value("queued_jobs", queue="interactive") == 1, seconds=30)
        wait_for(lambda: value("queued_messages", queue="media") >= 1, seconds=30)
        assert value("process_info", kind="beat") == 1
        assert 0 < value("oldest_queued_job_age_seconds", queue="interactive") < 60
        assert 0 < value("oldest_message_age_seconds", queue="media") < 60
        assert scrape(port).total("platform_store_readable") == 2
        assert value("money_violations") == 0
        assert time.time() - 60 < value("sweep_success_timestamp_seconds", sweep="reconcile")
        assert value("sweep_duration_seconds", sweep="reconcile") > 0
    with running_worker(simulator), owner.follow(session):
        pass


@pytest.mark.usefixtures("committed")
def test_what_cannot_be_read_is_not_shown_and_comes_back(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    own, port = OwnRedis(tmp_path), free_port()
    stores = {"REDIS_URL": own.url, "METRICS_PORT": str(port)}

    def is_readable(store: str) -> float:
        return scrape(port).value("platform_store_readable", store=store)

    try:
        with running_beat(simulator, tmp_path, **stores):
            wait_for(lambda: answers(port), seconds=30)
            wait_for(lambda: is_readable("redis") == 1, seconds=30)
            with own.frozen():
                wait_for(lambda: is_readable("redis") == 0, seconds=30)
                scraped = scrape(port)
                assert scraped.value("platform_store_readable", store="database") == 1
                names = {name for name, _ in scraped.series}
                assert "platform_queued_messages" not in names
                assert "platform_queued_jobs" in names
            wait_for(lambda: is_readable("redis") == 1, seconds=30)
    finally:
        own.stop()


@pytest.mark.parametrize("sweep", sorted(SWEEPS))
def test_a_sweep_notes_its_success_under_the_name_of_its_schedule(db: None, sweep: str) -> None:
    Sweep.objects.all().delete()
    import_string(settings.CELERY_BEAT_SCHEDULE[sweep]["task"])()
    assert list(Sweep.objects.values_list("name", flat=True)) == [sweep]


def test_a_sweep_that_fails_notes_no_success(db: None) -> None:
    Sweep.objects.all().delete()

    @sweep("reconcile")
    def fail() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not Sweep.objects.exists()
