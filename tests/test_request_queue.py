"""Whose work takes a turn in the queue before `/api`, and whose does not."""

import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil

from devserver.ports import LOOPBACK
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.personas import authorization, new_user
from tests.service import Web, running_web

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


def open_connections(web: Web) -> int:
    """How many clients the process has."""
    process = psutil.Process(web.process.pid)
    return sum(end.laddr.port == web.port and bool(end.raddr) for end in process.net_connections())
