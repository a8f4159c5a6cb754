"""`python -m tests.kill_parts [FOLDER]`: kill -9 of each part of `make run`, and of each pair.

Starts the whole service in a folder of its own, and after each kill waits until everything works
again: both kinds of models, a council, speech, and what beat has done. Some ten minutes.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psycopg

from common.local import postgres
from common.local.configuration import DATABASE
from common.local.paths import PYTHONPATH, ROOT
from common.local.ports import LOOPBACK, free_port
from tests.audio import speech

# So many restarts of one part, one after the other, are meant: each counts as recovered soon.
RUN = """
import sys
from common.local import supervisor
supervisor.RECOVERED_SECONDS = 3
from common.local.__main__ import main
sys.argv = ["common.local", "run"]
sys.exit(main())
"""
PARTS = ("postgres", "redis", "model", "speech", "simulator", "beat", "worker", "web")
STORES = {"DATABASE_URL": "", "REDIS_URL": "", "LOCAL_MODEL_URL": "", "LOCAL_SPEECH_URL": ""}
SECONDS = 120
QUESTION = [{"role": "user", "content": "Say hello."}]


class Service:
    """`make run` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.var, self.log = folder / "var", (folder / "output").open("a")
        self.port = free_port()
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        own = {"PYTHONPATH": PYTHONPATH, "VAR_DIR": str(self.var), "PORT": str(self.port)}
        command = [sys.executable, "-c", RUN]
        self.popen = subprocess.Popen(
            command,
            env={**inherited, **STORES, **own},
            cwd=ROOT,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        self.http = httpx.Client(base_url=f"http://{LOOPBACK}:{self.port}", timeout=20)

    def demo(self) -> dict[str, str]:
        demo: dict[str, str] = json.loads((self.var / "demo.json").read_text())
        return demo

    def kill(self, names: tuple[str, ...]) -> None:
        for name in names:
            entry = json.loads((self.var / "run" / f"{name}.json").read_text())
            os.kill(entry["pid"], signal.SIGKILL)

    # --- What has to work -------------------------------------------------------------------------

    def chats(self, model: str) -> bool:
        body = {"model": model, "messages": QUESTION, "max_tokens": 5}
        headers = {"Authorization": f"Bearer {self.demo()['api_key']}"}
        answer = self.http.post("/v1/chat/completions", json=body, headers=headers)
        return answer.status_code == 200

    def signed_in(self) -> dict[str, str]:
        who = {name: self.demo()[name] for name in ("email", "password")}
        token = self.http.post("/api/auth/login", json=who).json()["access_token"]
        return {"Authorization": f"Bearer {token}"}

    def holds_councils(self) -> bool:
        headers = self.headers
        body = {"prompt": "Hello?", "models": ["gpt-6-luna"]}
        path = "/api/council/sessions"
        session = self.http.post(path, json=body, headers=headers).json()["id"]
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            state = self.http.get(f"{path}/{session}", headers=headers).json()
            if state["status"] != "running":
                return bool(state["cards"][0]["status"] == "completed")
            time.sleep(0.2)
        return False

    def hears(self) -> bool:
        files = {"file": speech()}
        return (
            self.http.post("/api/transcribe", files=files, headers=self.headers).status_code == 200
        )

    def is_swept(self, since: float) -> bool:
        """Has beat put something into every queue since then, and a worker taken it?"""
        ports = json.loads((self.var / "ports.json").read_text())
        password = json.loads((self.var / "secrets.json").read_text())["postgres"]
        url = postgres.url(ports["postgres"], DATABASE, password)
        with psycopg.connect(url) as connection:
            row = connection.execute(
                "SELECT count(*), extract(epoch FROM min(sang_at)) FROM jobs_canary"
            ).fetchone()
        return row is not None and row[0] == 3 and float(row[1]) > since

    def wait_until_it_works(self, since: float) -> float:
        """Returns after how many seconds. Raises AssertionError where it never does."""
        begun = time.monotonic()
        self.headers: dict[str, str] = {}
        for what in (
            lambda: self.chats("gpt-6-luna"),
            lambda: self.chats("smollm2-135m"),
            self._sign_in,
            self.holds_councils,
            self.hears,
            lambda: self.is_swept(since),
        ):
            self._wait_for(what, begun + SECONDS)
        return time.monotonic() - begun

    def _sign_in(self) -> bool:
        self.headers = self.signed_in()
        return True

    def _wait_for(self, what: Callable[[], bool], deadline: float) -> None:
        while True:
            assert self.popen.poll() is None, "the supervisor has ended"
            try:
                if what():
                    return
            except (httpx.HTTPError, OSError, KeyError, ValueError, psycopg.Error):
                pass
            assert time.monotonic() < deadline, f"{what} does not come back"
            time.sleep(0.3)


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="kill-parts-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    service, failed = Service(folder), 0
    try:
        service.wait_until_it_works(0)
        for names in [*itertools.combinations(PARTS, 1), *itertools.combinations(PARTS, 2)]:
            # Until all have "recovered", and records are written.
            time.sleep(4)
            killed_at = time.time()
            try:
                service.kill(names)
                seconds = service.wait_until_it_works(killed_at)
            except (AssertionError, OSError) as failure:
                failed += 1
                print(f"{' + '.join(names)}: {failure!r}", flush=True)  # noqa: T201
                if service.popen.poll() is not None:
                    service = Service(folder)
                    service.wait_until_it_works(0)
            else:
                print(f"{' + '.join(names)}: works after {seconds:.0f} s", flush=True)  # noqa: T201
    finally:
        service.popen.terminate()
        service.popen.wait(60)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
