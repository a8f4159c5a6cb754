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
from typing import Any

import httpx
import psycopg

from devserver import postgres
from devserver.configuration import DATABASE
from devserver.paths import PYTHONPATH, ROOT
from devserver.ports import LOOPBACK, free_port
from tests.audio import speech

# So many restarts of one part, one after the other, are meant: each counts as recovered soon.
RUN = """
import sys
from devserver import supervisor
supervisor.RECOVERED_SECONDS = 3
from devserver.__main__ import main
sys.argv = ["devserver", "run"]
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
        self.headers: dict[str, str] = {}  # of who has signed in

    def demo(self) -> dict[str, str]:
        demo: dict[str, str] = json.loads((self.var / "demo.json").read_text())
        return demo

    def kill(self, names: tuple[str, ...]) -> None:
        for name in names:
            os.kill(self._pid_of(name), signal.SIGKILL)

    def _pid_of(self, name: str) -> int:
        return int(json.loads((self.var / "run" / f"{name}.json").read_text())["pid"])

    def end(self) -> None:
        """Raises AssertionError where it has to be ended by force."""
        self.popen.terminate()
        try:
            self.popen.wait(60)
        except subprocess.TimeoutExpired:
            pids = [self._pid_of(path.stem) for path in (self.var / "run").glob("*.json")]
            for pid in [self.popen.pid, *pids]:
                os.kill(pid, signal.SIGKILL)
            raise AssertionError("the service does not stop") from None

    # --- What has to work -------------------------------------------------------------------------

    def chats(self, model: str) -> bool:
        body = {"model": model, "messages": QUESTION, "max_tokens": 5}
        headers = {"Authorization": f"Bearer {self.demo()['api_key']}"}
        self._ask("POST", "/v1/chat/completions", json=body, headers=headers)
        return True

    def signs_in(self) -> bool:
        who = {name: self.demo()[name] for name in ("email", "password")}
        token = self._ask("POST", "/api/auth/login", json=who)["access_token"]
        self.headers = {"Authorization": f"Bearer {token}"}
        return True

    def holds_councils(self) -> bool:
        body = {"prompt": "Hello?", "models": ["gpt-6-luna"]}
        path = "/api/council/sessions"
        session = self._ask("POST", path, json=body, headers=self.headers)["id"]
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            state = self._ask("GET", f"{path}/{session}", headers=self.headers)
            if state["status"] != "running":
                return bool(state["cards"][0]["status"] == "completed")
            time.sleep(0.2)
        return False

    def hears(self) -> bool:
        self._ask("POST", "/api/transcribe", files={"file": speech()}, headers=self.headers)
        return True

    def is_swept(self, since: float) -> bool:
        """Has beat put something into every queue since then, and a worker taken it?"""
        ports = json.loads((self.var / "ports.json").read_text())
        password = json.loads((self.var / "secrets.json").read_text())["postgres"]
        url = postgres.url(ports["postgres"], DATABASE, password)
        with psycopg.connect(url) as connection:
            row = connection.execute(
                "SELECT count(*), extract(epoch FROM min(seen_at)) FROM jobs_queueheartbeat"
            ).fetchone()
        return row is not None and row[0] == 3 and float(row[1]) > since

    def _ask(self, method: str, path: str, **request: Any) -> Any:
        """The body of an answer. Raises httpx.HTTPStatusError for a refusal."""
        return self.http.request(method, path, **request).raise_for_status().json()

    def wait_until_it_works(self, since: float) -> float:
        """Returns after how many seconds. Raises AssertionError where it never does."""
        begun = time.monotonic()
        for name, works in {
            "chat with a simulated model": lambda: self.chats("gpt-6-luna"),
            "chat with the local model": lambda: self.chats("smollm2-135m"),
            "signing in": self.signs_in,
            "a council": self.holds_councils,
            "speech": self.hears,
            "what beat starts": lambda: self.is_swept(since),
        }.items():
            self._wait_for(name, works, begun + SECONDS)
        return time.monotonic() - begun

    def _wait_for(self, name: str, works: Callable[[], bool], deadline: float) -> None:
        while True:
            assert self.popen.poll() is None, "the supervisor has ended"
            last: Exception | None = None
            try:
                if works():
                    return
            except (httpx.HTTPError, OSError, psycopg.Error) as error:
                last = error
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} does not work again: {last!r}") from last
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
        service.end()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
