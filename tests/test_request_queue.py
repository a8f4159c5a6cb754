"""Whose work takes a turn in the queue before `/api`, and whose does not."""

import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import psycopg

from devserver.ports import LOOPBACK
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.locks import wait_until_blocked
from tests.personas import authorization, new_user
from tests.service import Web, database_url, running_web

# More than there are turns.
VISITORS = 20
SHAPE_OF_A_TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJ4In0.c2ln"


def sign_in_with_google(web: Web) -> int:
    answer = httpx.post(
        f"{web.url}/api/auth/google", json={"id_token": SHAPE_OF_A_TOKEN}, timeout=30
    )
    return answer.status_code


def test_nobody_waits_for_those_who_sign_in(committed: None, simulator: RunningSimulator) -> None:
    """Not while the keys of Google do not come, either."""
    headers = authorization(new_user("alice"))
    with (
        socket.create_server((LOOPBACK, 0)) as silent,
        running_web(
            simulator, GOOGLE_JWKS_URL=f"http://{LOOPBACK}:{silent.getsockname()[1]}/keys"
        ) as web,
        ThreadPoolExecutor(VISITORS) as visitors,
    ):
        signing_in = [visitors.submit(sign_in_with_google, web) for _ in range(VISITORS)]
        fetching, _ = silent.accept()
        with fetching:
            wait_for(lambda: open_connections(web) >= VISITORS)
            answer = httpx.get(f"{web.url}/api/conversations", headers=headers)
            assert not any(each.done() for each in signing_in)
        assert answer.status_code == 200
        assert {each.result() for each in signing_in} == {503}


def test_nobody_waits_for_those_who_order(committed: None, simulator: RunningSimulator) -> None:
    """An order may take long: its pictures are decoded. Here each waits for the table of jobs."""
    headers = authorization(new_user("alice", plan="max", balance_usd=5))
    order = {"model": "gpt-image-2.5-flare", "prompt": "A lighthouse."}
    with (
        running_web(simulator) as web,
        ThreadPoolExecutor(VISITORS) as visitors,
        psycopg.connect(database_url()) as holder,
    ):
        holder.execute("LOCK TABLE studios_generation IN ACCESS EXCLUSIVE MODE")
        ordering = [
            visitors.submit(
                httpx.post, f"{web.url}/api/images", headers=headers, json=order, timeout=30
            )
            for _ in range(VISITORS)
        ]
        wait_until_blocked(holder, 2)
        wait_for(lambda: open_connections(web) >= VISITORS)
        answer = httpx.get(f"{web.url}/api/conversations", headers=headers)
        assert answer.status_code == 200
        assert not any(each.done() for each in ordering)
        holder.rollback()
        assert {each.result().status_code for each in ordering} <= {201, 202, 429}


def open_connections(web: Web) -> int:
    """How many clients the process has."""
    process = psutil.Process(web.process.pid)
    return sum(end.laddr.port == web.port and bool(end.raddr) for end in process.net_connections())
