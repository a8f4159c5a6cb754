"""docs/operations/first-setup.md: production by these commands alone, on a PostgreSQL and a Redis
that have nothing, until somebody has signed up and got an answer."""

import re
import secrets
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg
import pytest

from accounts.tests.mailserver import MailServer, running_mail_server
from billing.seeds import PLANS
from devserver import postgres
from devserver.paths import PYTHONPATH
from devserver.ports import LOOPBACK, free_port
from simulator.process import RunningSimulator
from tests.nginx import write_certificate
from tests.operations import blocks
from tests.operations.blocks import FOLDER, run, script
from tests.operations.machines import Machine, machine

T = TypeVar("T")
ALICE = {"email": "alice@example.com", "password": "correct horse battery staple"}
OPERATOR, PASSWORD = "olivia@example.com", "another horse and its battery"
# As the proxy has it.
HEADERS = {
    "x-forwarded-proto": "https",
    "x-forwarded-for": "203.0.113.7",
    "host": "app.example.com",
}


@dataclass
class Site:
    """A machine on which the service is set up."""

    machine: Machine
    simulator: RunningSimulator
    mails: MailServer
    certificate: Path
    stack: ExitStack

    def __post_init__(self) -> None:
        self.port = free_port()
        self.password = secrets.token_hex(16)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the document names, with what this machine has."""
        folder = self.machine.folder
        values = {
            "SECRET_KEY": "9c1f0a7be34d5268f7ab1c9d0e2f4a6b8c3d5e7f",
            "API_KEY_PEPPER": "53e8d1c07fb2a4690d8e6c1b3f5a7902d4e6f8a1",
            "ENCRYPTION_KEYS": "b7d2f4a6908c1e3d5f7a9b0c2e4d6f8091a3b5c7",
            "ALLOWED_HOSTS": "app.example.com",
            "PUBLIC_BASE_URL": "https://app.example.com",
            "DATABASE_URL": f"postgres://platform:{self.password}@{LOOPBACK}:{self.machine.port}/platform",
            "REDIS_URL": self.machine.redis_url,
            "OUTPUTS_DIR": str(folder / "outputs"),
            "UPLOADS_DIR": str(folder / "uploads"),
            "EMAIL_URL": f"smtp+ssl://{LOOPBACK}:{self.mails.port}",
            "DEFAULT_FROM_EMAIL": "noreply@example.com",
            "BEHIND_TLS_PROXY": "1",
            "TRUSTED_PROXY_HOPS": "1",
            "WEB_PROCESSES": "2",
            "WORKER_PROCESSES": "3",
            "OPENAI_API_KEY": "the key of a provider",
        }
        lines = script("first-setup.md#environment").splitlines()
        assert [line.partition("=")[0] for line in lines] == list(values)
        return {
            **values,
            "PYTHONPATH": PYTHONPATH,
            "DJANGO_SETTINGS_MODULE": "config.settings.prod",
            # Of this test: what the parties out there are, and words of its own in the commands.
            "OPENAI_BASE_URL": f"{self.simulator.url}/openai/v1",
            "SSL_CERT_FILE": str(self.certificate),
            "PORT": str(self.port),
            "QUEUE": "interactive,media,default",
            "BEAT_FOLDER": str(folder),
            "OPERATOR": OPERATOR,
            "OPERATOR_PASSWORD": PASSWORD,
            "POSTGRES_PASSWORD": self.password,
            "ADMIN_DATABASE_URL": postgres.url(self.machine.port, "postgres"),
        }

    def start(self, name: str, stack: ExitStack | None = None, **changes: str) -> None:
        """Run a process by the block of that id, until the test, or `stack`, ends."""
        log = self.machine.folder / f"{name.partition('#')[2]}.log"
        process = blocks.running(name, self.environment | changes, log)
        (stack or self.stack).enter_context(process)

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return blocks.manage(*arguments, environment=self.environment)

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        headers = HEADERS | request.pop("headers", {})
        url = f"http://{LOOPBACK}:{self.port}{path}"
        return httpx.request(method, url, headers=headers, timeout=20, **request)

    def probe(self, path: str) -> httpx.Response:
        """As a supervisor asks a process, past the proxy."""
        return httpx.get(f"http://{LOOPBACK}:{self.port}{path}", timeout=20)

    def readyz(self) -> tuple[int, str]:
        """The status, and the check that is known not to be well, with its sentence."""
        time.sleep(1.1)  # the last answer counts for a second
        answer = self.probe("/readyz")
        checks = answer.json()["checks"].items()
        wrong = [f"{name}: {state}" for name, state in checks if state not in ("ok", "unknown")]
        return answer.status_code, "; ".join([*wrong, answer.json().get("detail", "")])

    def is_alive(self) -> bool:
        try:
            return self.probe("/livez").status_code == 200
        except httpx.TransportError:
            return False


def wait_for(what: Callable[[], T], *, seconds: float = 60) -> T:
    """The first true answer."""
    deadline = time.monotonic() + seconds
    while not (answer := what()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)
    return answer


@pytest.fixture
def site(tmp_path: Path, simulator: RunningSimulator) -> Iterator[Site]:
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(folder.stat().st_mode | 0o011)  # PostgreSQL may run as another user
    certificate = write_certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, tmp_path / "tls.key")
    with ExitStack() as stack:
        mails = stack.enter_context(running_mail_server(tls))
        stores = stack.enter_context(machine(tmp_path / "machine", simulator, durable=False))
        yield Site(stores, simulator, mails, certificate, stack)


def test_a_service_is_set_up_by_the_document_alone(site: Site) -> None:
    run("first-setup.md#database", site.environment | site.machine.add_administrator())
    with psycopg.connect(site.environment["DATABASE_URL"]) as connection:
        row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        assert row.fetchone() == (False,)

    with ExitStack() as early:
        site.start("first-setup.md#web", early, OPENAI_API_KEY="")
        wait_for(site.is_alive)
        assert site.readyz() == (503, table()["migrations"])
        assert_refused(site.send("POST", "/api/auth/signup", json=ALICE))
        assert_refused(site.send("GET", "/v1/models"))
        visit = {"cookie": f"sessionid={'a' * 32}"}
        assert_refused(site.send("GET", "/admin/", headers=visit))
        operator = site.manage("createsuperuser", "--no-input", f"--email={OPERATOR}")
        assert (operator.returncode, "Traceback" in operator.stdout) == (1, False)
        assert "The database is not set up: run `manage.py setup`." in operator.stdout

        assert site.manage("migrate", "--verbosity", "0").returncode == 0
        assert site.readyz() == (503, both("plans", "models"))
        assert_refused(site.send("POST", "/api/auth/signup", json=ALICE))

        set_up_from_two_hosts(site)
        assert site.readyz() == (503, table()["models"])

    run("first-setup.md#check", site.environment)
    run("first-setup.md#static", site.environment)
    site.start("first-setup.md#web")
    site.start("first-setup.md#worker")
    site.start("first-setup.md#beat")
    wait_for(site.is_alive)
    assert site.readyz() == (200, "")

    token = sign_up(site)
    assert first_answer(site, token)["status"] == "completed"
    operators_page = site.send("GET", "/admin/login/").text
    [style, *_] = re.findall(r'<link href="(/static/[^"]+\.css)"', operators_page)
    assert site.send("GET", style).headers["content-type"].startswith("text/css")


def set_up_from_two_hosts(site: Site) -> None:
    """At once. They take turns, and each prints a line for each step."""
    with ThreadPoolExecutor(2) as hosts:
        done = hosts.map(lambda _: run("first-setup.md#setup", site.environment), range(2))
        second, first = sorted(done, key=lambda said: "was made" in said)
    assert f"Operator: {OPERATOR} was made" in first
    assert f"Plans: {len(PLANS)} added" in first
    assert "Operator: there is one" in second
    assert "Plans: 0 added, 0 allowances added." in second
    for said in (first, second):
        assert re.findall(r"^(\w+): ", said, re.MULTILINE) == [
            *("Connections", "Migrations", "Catalog", "Plans", "Operator")
        ]
        assert PASSWORD not in said


def assert_refused(answer: httpx.Response) -> None:
    """With the sentence that helps, whatever the envelope."""
    assert answer.status_code == 503, answer.text
    assert "its operator has to run `manage.py setup`." in answer.text


def table() -> dict[str, str]:
    """What the document says of `/readyz`, by check: `check: state; sentence`."""
    text = (FOLDER / "first-setup.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| `(\w+)`: `(\w+)` \| (.+) \|$", text, re.MULTILINE)
    return {check: f"{check}: {state}; {sentence}" for check, state, sentence in rows}


def both(*checks: str) -> str:
    said = [table()[check].split("; ", 1) for check in checks]
    return "; ".join([*(state for state, _ in said), " ".join(sentence for _, sentence in said)])


def sign_up(site: Site) -> str:
    """An access token of somebody who has followed the link in the mail."""
    answer = site.send("POST", "/api/auth/signup", json=ALICE)
    assert answer.status_code == 201, answer.text
    wait_for(lambda: ALICE["email"] in site.mails.recipients)
    link = mailed_link(wait_for(lambda: site.mails.received[-1:])[0])
    page, _, token = link.partition("?token=")
    assert page == "https://app.example.com/verify-email"
    verified = site.send("POST", "/api/auth/verify-email", json={"token": token})
    assert verified.is_success, verified.text
    access: str = answer.json()["access_token"]
    return access


def mailed_link(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    assert body is not None
    found = re.search(r"https://\S+", body.get_content())
    assert found
    return found[0]


def first_answer(site: Site, token: str) -> dict[str, Any]:
    """What a model of the free plan answers."""
    headers = {"authorization": f"Bearer {token}"}
    made = site.send("POST", "/api/conversations", json={}, headers=headers).json()
    path = f"/api/conversations/{made['id']}/messages"
    message = {"content": "How deep is the sea?", "stream": False}
    answer = site.send("POST", path, json=message, headers=headers)
    assert answer.is_success, answer.text
    listed = site.send("GET", path, headers=headers).json()
    reply: dict[str, Any] = listed[0]
    assert (reply["role"], bool(reply["content"])) == ("assistant", True)
    return reply
