"""The web process is killed in the middle of what a user does to a run: it is done, or it is not,
and the run can go on. Two web processes and two workers do what one of each does."""

import threading
from contextlib import ExitStack, suppress
from typing import Any

import httpx
import psycopg
import pytest
from django.core.management import call_command

from billing.tests import bank
from events.models import Event
from projects.models import Run
from projects.tests.principal import RUN, Principal, Shape, new_principal, part
from simulator.process import RunningSimulator
from tests.chaos.proxy import Proxy
from tests.follow import followed, wait_until
from tests.locks import wait_until_blocked
from tests.service import Web, database_url, running_web
from tests.worker import running_worker

pytestmark = pytest.mark.usefixtures("committed")

ACTS: dict[str, tuple[str, str, Shape]] = {
    "resume": ("POST", "/control", {"action": "resume"}),
    "pause": ("POST", "/control", {"action": "pause"}),
    "cancel": ("POST", "/control", {"action": "cancel"}),
    "message": ("POST", "/message", {"content": "Mind the whales."}),
    "reassign": ("POST", "/reassign", {"subtask_id": "SUBTASK", "model_key": "gpt-6-luna"}),
    "replace": ("POST", "/replace", {"subtask_id": "SUBTASK", "content": "Mine."}),
    "plan": ("PATCH", "/plan", {"add": [part("c")]}),
    "rename": ("PATCH", "", {"title": "Sea"}),
    "delete": ("DELETE", "", {}),
}


@pytest.fixture(scope="module")
def standing(simulator: RunningSimulator) -> Any:
    with running_web(simulator) as web, running_worker(simulator):
        yield web


def client_of(web: Web) -> httpx.Client:
    return httpx.Client(base_url=web.url, timeout=30)


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_done_or_not_and_the_run_goes_on(
    standing: Web, simulator: RunningSimulator, act: str
) -> None:
    with running_web(simulator) as doomed, client_of(doomed) as http, client_of(standing) as other:
        alice = new_principal(other, standing, simulator)
        run = alice.finished(part("a"), part("b", "a"), approve_plan=True)
        events = Event.objects.filter(stream=run["id"]).count()
        method, path, body = ACTS[act]
        if body.get("subtask_id"):
            body = {**body, "subtask_id": run["subtasks"][0]["id"]}
        dying = Principal(alice.user, 0, alice.marker, http, doomed, simulator)

        def ask() -> None:
            with suppress(httpx.HTTPError):
                dying.send(method, f"/sessions/{run['id']}{path}", **body)

        with psycopg.connect(database_url()) as holder:
            holder.execute("SELECT FROM projects_run WHERE id = %s FOR UPDATE", (run["id"],))
            asking = threading.Thread(target=ask)
            asking.start()
            wait_until_blocked(holder)
            doomed.kill()
            asking.join()
        wait_until(lambda: _is_free(run))
        assert alice.do("GET", f"/sessions/{run['id']}") == run
        assert Event.objects.filter(stream=run["id"]).count() == events

        with alice.follow(run) as follower:
            alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
        assert follower.pictures[-1]["status"] == "completed"
        alice.check_money(follower.pictures[-1])
    call_command("reconcile")


def test_a_start_is_done_or_not_and_is_repeated_by_its_key(
    standing: Web, simulator: RunningSimulator
) -> None:
    with running_web(simulator) as doomed, client_of(doomed) as http, client_of(standing) as other:
        alice = new_principal(other, standing, simulator)
        goal = alice.goal(part("a"))
        headers = {"Authorization": f"Bearer {alice.token}", "Idempotency-Key": alice.marker}

        def start(client: httpx.Client) -> Any:
            answer = client.post("/api/project/sessions", json={"prompt": goal}, headers=headers)
            return answer.json()

        def ask() -> None:
            with suppress(httpx.HTTPError):
                start(http)

        with psycopg.connect(database_url()) as holder:
            holder.execute("LOCK TABLE projects_run IN SHARE MODE")
            asking = threading.Thread(target=ask)
            asking.start()
            wait_until_blocked(holder)
            doomed.kill()
            asking.join()

        run = start(other)
        assert start(other)["id"] == run["id"]
        with alice.follow(run) as follower:
            pass
        assert Run.objects.filter(account=alice.user).count() == 1
        assert follower.pictures[-1]["status"] == "completed"
        alice.check_money(follower.pictures[-1])
    call_command("reconcile")


def _is_free(run: Shape) -> bool:
    """Has the transaction of the killed process ended?"""
    with psycopg.connect(database_url()) as connection:
        rows = connection.execute(
            "SELECT FROM projects_run WHERE id = %s FOR UPDATE SKIP LOCKED", (run["id"],)
        )
        return rows.rowcount == 1


def test_two_of_each_give_the_same_results(simulator: RunningSimulator) -> None:
    outcomes = []
    with ExitStack() as stack, Proxy() as proxy:
        http = stack.enter_context(
            httpx.Client(base_url=f"http://127.0.0.1:{proxy.port}", timeout=30)
        )
        webs: list[Web] = []
        for _ in range(2):
            webs.append(stack.enter_context(running_web(simulator)))
            proxy.lead_to(webs[-1].port)
            stack.enter_context(running_worker(simulator))
            alice = new_principal(http, webs[0], simulator)
            outcomes.append(_outcome(alice, webs))
    assert outcomes[0] == outcomes[1]


def _outcome(alice: Principal, webs: list[Web]) -> Any:
    """What came of a run that is followed at every web process, but for ids and times."""
    parts = [part("a"), part("b", "a", title="Prices"), part("c", "a", writes=["sea.md"])]
    run = alice.start(*parts, approve_plan=True)
    with ExitStack() as stack:
        followers = [
            stack.enter_context(followed(RUN, run["id"], alice.token, web)) for web in webs
        ]
        wait_until(lambda: Run.objects.get(pk=run["id"]).status == "paused")
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = followers[-1].pictures[-1]
    alice.check_money(last)
    assert bank.wallet_of(alice.user).held == 0
    return (
        last["status"],
        [(each["key"], each["status"], len(each["attempts"])) for each in last["subtasks"]],
        # Two parts are written side by side: either may be the first to end.
        sorted((each["name"], each["version"], each["status"]) for each in last["deliverables"]),
    )
