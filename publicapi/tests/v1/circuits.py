"""Two web processes that share circuits which open soon, and what tests look at there."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
from redis import Redis

from accounts.services.platform_account import PLATFORM_ID
from ai.provider_health.exchange import ROUND_SECONDS
from billing.models import Charge
from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import IN_PLAN, Customer, new_customer
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.own_redis import OwnRedis
from tests.service import Web, running_web
from tests.short_circuits import SHORT_CIRCUITS

# A provider that is down, whoever calls; a prompt with this steering is one that it cannot stand.
DOWN = {"fail": "before", "status": 503}


@contextmanager
def two_webs(
    simulator: RunningSimulator, redis: OwnRedis, **environment: str
) -> Iterator[list[Web]]:
    """Both until the block ends."""
    settings = {"REDIS_URL": redis.url, **SHORT_CIRCUITS, **environment}
    with running_web(simulator, **settings) as first, running_web(simulator, **settings) as second:
        yield [first, second]


@contextmanager
def customer_of(
    webs: list[Web], redis: OwnRedis, simulator: RunningSimulator
) -> Iterator[Customer]:
    """A customer of the first process, who begins while nothing is known of any provider."""
    forget_all(redis)
    with wire.client(webs[0].url) as http:
        yield new_customer(http, webs[0], simulator)
    simulator.end_outages()


def forget_all(redis: OwnRedis) -> None:
    """Let all processes begin anew, once each has told what it knew."""
    time.sleep(ROUND_SECONDS)
    with Redis.from_url(redis.url) as store:
        if keys := list(store.scan_iter("health:*")):
            store.delete(*keys)
    time.sleep(1.5 * ROUND_SECONDS)


def beside(customer: Customer, name: str) -> Customer:
    """Somebody else who calls the same process."""
    return new_customer(customer.http, customer.web, customer.simulator, name=name)


def probes_since(customer: Customer, model: str = IN_PLAN) -> list[Charge]:
    """The probes of a model since this customer exists, the oldest first: ids are in the order of
    time."""
    ours = Charge.objects.filter(account_id=PLATFORM_ID, model_id=model)
    return list(ours.filter(pk__gt=customer.user.pk).order_by("pk"))


def call_until(is_so: Callable[[], bool]) -> None:
    """Call slowly enough for the 120 calls that a key may make in a minute to last the wait."""
    wait_for(is_so, pause=0.2)


def is_refused(response: httpx.Response) -> bool:
    return response.status_code == 503
