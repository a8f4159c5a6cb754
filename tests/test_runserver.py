"""`manage.py runserver` (daphne) serves both interfaces and sockets, as uvicorn does."""

import json
import os
import sys

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from accounts.models import User
from common.ids import uuid7
from common.local.paths import PYTHONPATH, ROOT
from common.local.ports import LOOPBACK, answers, free_port
from common.local.processes import Process
from common.local.service import Service
from events.tests.streams import append, new_stream
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.personas import PASSWORD, new_key, new_user
from tests.service import SIMULATED, database_url


@pytest.mark.usefixtures("committed")
def test_runserver_serves_both_interfaces_and_sockets(simulator: RunningSimulator) -> None:
    _, key = new_key(new_user("alice", plan="max", balance_usd=5))
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    server = Process(
        Service(
            name="runserver",
            command=(
                sys.executable,
                str(ROOT / "manage.py"),
                "runserver",
                "--noreload",
                "--nostatic",
                f"{LOOPBACK}:{port}",
            ),
            env={
                "PYTHONPATH": PYTHONPATH,
                "DJANGO_SETTINGS_MODULE": "config.settings.dev",
                "API_KEY_PEPPER": "test-only-pepper",
                "DATABASE_URL": database_url(),
                "REDIS_URL": os.environ["REDIS_URL"],
                "SIMULATOR_URL": simulator.url,
                "SIMULATED_PROVIDERS": SIMULATED,
            },
            is_ready=lambda: answers(port, "/v1/models"),
        )
    )
    try:
        server.wait_until_ready(timeout=30)
        streamed = calls.post(url, key, calls.body(uuid7().hex, stream=True, tokens=5))
        me = httpx.get(f"{url}/api/auth/me")
        bob = {"email": f"bob-{uuid7().hex}@example.com", "password": PASSWORD}
        token = httpx.post(f"{url}/api/auth/signup", json=bob).json()["access_token"]
        stream_id = new_stream(User.objects.get(email=bob["email"]))
        sockets = f"{url.replace('http', 'ws')}/api/council/ws"
        with connect(f"{sockets}/{stream_id}?token={token}") as socket:
            append(stream_id, "hello")
            delivered = json.loads(socket.recv(10))
        with pytest.raises(InvalidStatus), connect(f"{sockets}/a/b"):
            pass
    finally:
        server.stop()

    assert streamed.text.endswith("data: [DONE]\n\n")
    assert me.status_code == 401
    assert me.json()["detail"]
    assert delivered["data"] == {"value": "hello"}
