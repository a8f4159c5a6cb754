"""100 requests per minute and address to sign in, 1,000 for the rest, on the running service."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from server.client_limit import AUTHENTICATION_LIMIT, DELAY_SECONDS, GENERAL_LIMIT
from server.rate_limit import MANY_REFUSALS
from server.tests.client import LOGIN, Client, assert_refused
from server.tests.windows import let_pass, use_up
from simulator.process import RunningSimulator
from tests.service import WEB_APP, Web, running_web

PREFLIGHT = {
    "origin": WEB_APP,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type",
}


@pytest.fixture
def alice(web: Web) -> Iterator[Client]:
    with Client(web.url) as alice:
        yield alice


@pytest.fixture
def bob(web: Web) -> Iterator[Client]:
    with Client(web.url) as bob:
        yield bob


# --- The two limits -------------------------------------------------------------------------------


def test_100_tries_to_sign_in_are_taken_and_the_next_are_refused(alice: Client) -> None:
    with ThreadPoolExecutor(4) as threads:
        claimed = [f"198.51.100.{number}" for number in range(103)]
        answers = list(
            threads.map(lambda ip: alice.try_to_sign_in(**{"x-forwarded-for": ip}), claimed)
        )
    assert [answer.status_code for answer in answers].count(422) == 100
    refused = [answer for answer in answers if answer.status_code != 422]
    assert len(refused) == 3
    for answer in refused:
        assert_refused(answer)
        assert int(answer.headers["retry-after"]) >= 40


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/auth/signup"),
        ("POST", "/api/auth/refresh"),
        ("POST", "/api/auth/there-is-no-such-endpoint"),
        ("POST", "/api/%61uth/login"),
        ("GET", "/api/auth/me"),
        ("POST", "/admin/login/"),
        ("POST", "/admin/login/?next=/admin/"),
    ],
)
def test_all_ways_to_sign_in_share_one_limit(alice: Client, method: str, path: str) -> None:
    alice.use_up_sign_ins(but=1)
    assert alice.request(method, path).status_code != 429
    assert_refused(alice.try_to_sign_in())
    assert_refused(alice.request(method, path))


def test_a_client_over_the_limit_of_sign_ins_may_send_other_requests(alice: Client) -> None:
    alice.use_up_sign_ins()
    assert alice.get("/api/keys").status_code == 401
    assert alice.get("/admin/login/").status_code == 200
    assert alice.options(LOGIN, headers=PREFLIGHT).status_code == 200
    assert alice.get("/v1/models").status_code == 200


def test_preflights_use_up_no_tries_to_sign_in(alice: Client) -> None:
    alice.use_up_sign_ins(but=1)
    assert alice.options(LOGIN, headers=PREFLIGHT).status_code == 200
    assert alice.try_to_sign_in().status_code == 422


def test_the_general_limit_is_1000_in_any_minute() -> None:
    assert (GENERAL_LIMIT.requests, GENERAL_LIMIT.window) == (1_000, 60)


@pytest.mark.parametrize("path", ["/api/keys", "/api/nothing", "/admin/", "/files/nothing", "/"])
def test_requests_at_the_limit_are_taken_and_the_next_is_refused(alice: Client, path: str) -> None:
    alice.use_up_requests(but=2)
    assert [alice.get(path).status_code == 429 for _ in range(3)] == [False, False, True]
    assert_refused(alice.get(path))


def test_the_general_limit_stops_neither_sign_ins_nor_the_public_interface(alice: Client) -> None:
    alice.use_up_requests()
    assert alice.try_to_sign_in().status_code == 422
    assert alice.get("/v1/models").status_code == 200


def test_preflights_are_counted_but_answered_so_that_the_refusal_behind_them_can_be_read(
    alice: Client,
) -> None:
    alice.use_up_requests(but=1)
    for _ in range(2):
        answer = alice.options("/api/keys", headers=PREFLIGHT)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == WEB_APP
    assert_refused(alice.get("/api/keys"))


def test_a_web_app_can_read_the_refusal_and_when_to_come_back(alice: Client) -> None:
    alice.use_up_sign_ins()
    answer = alice.try_to_sign_in(origin=WEB_APP)
    assert_refused(answer)
    assert answer.headers["access-control-allow-origin"] == WEB_APP
    exposed = answer.headers["access-control-expose-headers"].split(", ")
    assert {"retry-after", "x-request-id"} <= set(exposed)


def test_a_refusal_leaves_the_connection_usable(alice: Client) -> None:
    alice.use_up_sign_ins()
    assert_refused(alice.post(LOGIN, content=b" " * 3_000_000))
    assert alice.get("/api/nothing").status_code == 404


def test_the_seconds_it_names_are_the_seconds_it_takes(alice: Client) -> None:
    alice.use_up_sign_ins()
    let_pass(alice.sign_ins, AUTHENTICATION_LIMIT, 58.7)
    refused = alice.try_to_sign_in()
    assert_refused(refused)
    wait = int(refused.headers["retry-after"])
    assert wait <= 2
    time.sleep(wait)
    assert alice.try_to_sign_in().status_code == 422


def test_a_client_that_looks_at_no_refusal_waits_for_the_next(alice: Client, bob: Client) -> None:
    alice.use_up_requests()
    alice.use_up_sign_ins()
    for _ in range(MANY_REFUSALS):
        assert_refused(alice.get("/api/keys"))
        assert_refused(alice.try_to_sign_in())
    for answer in (alice.get("/api/keys"), alice.try_to_sign_in()):
        assert_refused(answer)
        assert answer.elapsed.total_seconds() >= DELAY_SECONDS[0]
    assert bob.get("/api/keys").status_code == 401


def test_each_address_has_limits_of_its_own(alice: Client, bob: Client) -> None:
    alice.use_up_sign_ins()
    alice.use_up_requests()
    assert bob.try_to_sign_in().status_code == 422
    assert bob.get("/api/keys").status_code == 401


def test_a_forged_client_address_is_ignored_even_from_this_machine(web: Web) -> None:
    claimed = "198.51.100.99"
    use_up(f"authentication:{claimed}", AUTHENTICATION_LIMIT)
    answer = httpx.post(f"{web.url}{LOGIN}", json={}, headers={"x-forwarded-for": claimed})
    assert answer.status_code == 422


# --- Behind proxies -------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[1, 2])
def hops(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def web_behind_proxies(
    hops: int,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
) -> Iterator[Web]:
    with (
        django_db_blocker.unblock(),
        running_web(simulator, TRUSTED_PROXY_HOPS=str(hops)) as web,
    ):
        yield web


def test_behind_proxies_the_address_counts_that_the_first_of_them_saw(
    web_behind_proxies: Web, hops: int
) -> None:
    """Each proxy appends whom it sees; what the client itself claims stands before that."""
    appended = [f"198.51.100.{hops}", "10.0.0.2"][:hops]
    elsewhere = [f"198.51.101.{hops}", "10.0.0.2"][:hops]
    with Client(web_behind_proxies.url) as proxy:
        answers = [
            proxy.try_to_sign_in(
                **{"x-forwarded-for": ", ".join([f"203.0.113.{claim}", *appended])}
            )
            for claim in range(101)
        ]
        assert [answer.status_code for answer in answers[:100]] == [422] * 100
        assert_refused(answers[100])
        others = {"x-forwarded-for": ", ".join(elsewhere)}
        assert proxy.try_to_sign_in(**others).status_code == 422
        assert proxy.try_to_sign_in().status_code == 422
