"""A service that Prometheus watches, with the shipped rules, hastened."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from django.utils import timezone
from websockets.sync.client import connect

from accounts.models import OutgoingEmail
from billing.services import months
from common.models import Sweep
from devserver.ports import free_port
from publicapi.tests.v1.customer import Customer, new_customer
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.chaos.proxy import DoorProxy
from tests.own_redis import OwnRedis
from tests.personas import access_token_of, authorization
from tests.prometheus import Prometheus, running_prometheus
from tests.service import Web, running_web
from tests.test_health import postgres_port, through
from tests.worker import Worker, running_beat, running_worker
from work.jobs.models import Job, QueueHeartbeat

KEYS = ("sk-first-of-the-alerts", "sk-second-of-the-alerts")
MAX_OPEN_CALLS = 4
QUICK_ONES = 20
CONVERSATIONS = "/api/conversations"
QUEUES = ("default", "interactive", "media")
Fired = tuple[str, ...]


@dataclass
class Watched:
    """The service, what it needs, and the Prometheus that watches it."""

    web: Web
    redis: OwnRedis
    postgres: DoorProxy
    prometheus: Prometheus
    start_worker: Callable[[], Worker]
    worker: Worker
    others: set[Fired]

    @property
    def firing(self) -> set[Fired]:
        return self.prometheus.firing() - self.others


@contextmanager
def running_watched(simulator: RunningSimulator, folder: Path) -> Iterator[Watched]:
    """All of it until the block ends. Nothing fires at its beginning."""
    ports: dict[str, int] = {}
    for name in ("web", "worker", "beat"):
        ports[name] = free_port(but=set(ports.values()))
    with ExitStack() as stack:
        others = _forget_other_tests()
        redis, postgres = OwnRedis(folder), stack.enter_context(DoorProxy(postgres_port()))
        stack.callback(redis.stop)
        database = through(postgres.port)
        web = running_web(
            simulator,
            DATABASE_URL=database,
            REDIS_URL=redis.url,
            METRICS_PORT=str(ports["web"]),
            DJANGO_SETTINGS_MODULE="tests.keyed_settings",
            OPENAI_API_KEY=",".join(KEYS),
            MAX_OPEN_CALLS=str(MAX_OPEN_CALLS),
            DATABASE_POOL_SIZE="1",
        )
        beat = running_beat(
            simulator,
            folder,
            DATABASE_URL=database,
            REDIS_URL=redis.url,
            METRICS_PORT=str(ports["beat"]),
        )

        def start_worker() -> Worker:
            worker = running_worker(
                simulator,
                DATABASE_URL=database,
                REDIS_URL=redis.url,
                METRICS_PORT=str(ports["worker"]),
                EMAIL_URL="smtp://127.0.0.1:9",  # nobody takes mails there
            )
            return stack.enter_context(worker)

        served, worker = stack.enter_context(web), start_worker()
        stack.enter_context(beat)
        prometheus = stack.enter_context(running_prometheus(folder, ports))
        started = Watched(served, redis, postgres, prometheus, start_worker, worker, others)
        wait_for(prometheus.is_up, seconds=60)
        # What was not scraped yet, or never done, fires at first.
        wait_for(lambda: QueueHeartbeat.objects.count() == len(QUEUES), seconds=60)
        _use(served, simulator)
        time.sleep(5)
        assert_goes_out(started)
        yield started


def _use(web: Web, simulator: RunningSimulator) -> None:
    """Calls, requests and events that are quick. Where the first ones are slow, those that follow
    look slow too: `rate` extrapolates a bucket that was 0 by less than others."""
    with httpx.Client(base_url=web.url, timeout=30) as http:
        bob = new_customer(http, web, simulator, name="bob")
        headers = authorization(bob.user)
        with following(bob):
            for _ in range(QUICK_ONES):
                assert bob.chat().status_code == 200
                assert http.post(CONVERSATIONS, json={}, headers=headers).is_success
                time.sleep(0.1)


@contextmanager
def following(customer: Customer) -> Iterator[None]:
    """A socket of theirs is open, and takes all that comes."""
    token = access_token_of(customer.user)
    url = f"{customer.web.url.replace('http', 'ws')}/api/ws?token={token}"
    with connect(url, max_queue=None):
        yield


def _forget_other_tests() -> set[Fired]:
    """Take away what other tests have left in the stores that an alert would see. Returns what
    cannot be taken away."""
    Sweep.objects.all().delete()
    QueueHeartbeat.objects.all().delete()
    OutgoingEmail.objects.all().delete()
    Job.objects.filter(status=Job.Status.QUEUED).update(queued_at=timezone.now())
    return {("ChargesWithoutMonth",)} if months.count_strays() else set()


def assert_fires(
    watched: Watched,
    *expected: Fired,
    meanwhile: Callable[[], object] = lambda: None,
    at_first: Iterable[Fired] = (),
) -> None:
    """Wait until these alerts fire and no other one, while `meanwhile` goes on. On the way no other
    one fires but those `at_first`."""

    def all_fire() -> bool:
        meanwhile()
        firing = watched.firing
        assert firing <= {*expected, *at_first}
        return firing == set(expected)

    wait_for(all_fire, seconds=60)


def assert_goes_out(watched: Watched, *but: Fired) -> None:
    """Wait until nothing fires but these."""
    wait_for(lambda: watched.firing == set(but), seconds=60)
