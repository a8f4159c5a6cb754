"""The charges of work that goes on after its request are found by the id of that request."""

from collections.abc import Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from billing.models import Charge
from council.tests.owner import BALANCE_ONLY, IN_PLAN, new_owner
from projects.tests.principal import new_principal, part
from simulator.process import RunningSimulator
from studios.tests.artist import new_artist
from tests.operators import new_operator
from tests.service import Web
from tests.worker import running_worker

pytestmark = pytest.mark.usefixtures("committed", "worker")


@pytest.fixture(scope="module")
def worker(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[None]:
    with django_db_blocker.unblock(), running_worker(simulator):
        yield


@pytest.fixture
def http(web: Web) -> Iterator[httpx.Client]:
    """A client that gives its requests the id in its headers."""
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield http


def charges_of(request_id: str) -> list[Charge]:
    """What an operator finds who is told the id: the page of the charge, or the list of them."""
    operator = new_operator()
    found = list(Charge.objects.filter(request_id=request_id))
    page = operator.client.get("/admin/find/", {"q": request_id}, follow=True)
    assert page.status_code == 200
    for charge in found:
        assert str(charge.pk) in page.content.decode()
    return found


def test_of_a_council_by_the_request_of_each_turn(
    web: Web, http: httpx.Client, simulator: RunningSimulator
) -> None:
    alice = new_owner(http, web, simulator)
    http.headers["X-Request-ID"] = "council-of-alice"
    session = alice.finished(IN_PLAN, BALANCE_ONLY)
    http.headers["X-Request-ID"] = "debate-of-alice"
    with alice.follow(session):
        alice.do("POST", f"/sessions/{session['id']}/debate", rounds=1)

    asked, debated = charges_of("council-of-alice"), charges_of("debate-of-alice")
    assert (len(asked), len(debated)) == (2, 2)
    assert {str(charge.pk) for charge in asked + debated} == set(alice.charges())


def test_of_a_run_by_the_request_that_has_begun_it(
    web: Web, http: httpx.Client, simulator: RunningSimulator
) -> None:
    bob = new_principal(http, web, simulator, name="bob")
    http.headers["X-Request-ID"] = "run-of-bob"
    bob.finished(part("sea"))

    steps = set(Charge.objects.filter(account=bob.user).values_list("pk", flat=True))
    assert len(steps) > 2
    assert {charge.pk for charge in charges_of("run-of-bob")} == steps


def test_of_a_picture_by_the_request_that_has_ordered_it(
    http: httpx.Client, simulator: RunningSimulator
) -> None:
    charlie = new_artist(http, simulator, name="charlie")
    http.headers["X-Request-ID"] = "picture-of-charlie"
    job = charlie.made("gpt-image-2.5-flare")

    [charge] = charges_of("picture-of-charlie")
    assert (str(charge.pk), charge.status) == (job["id"], "settled")
