"""A thousand abusive connections from one address, and normal users beside them."""

import logging
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median, quantiles
from threading import Event, Thread

import httpx
from django.db import transaction

from accounts.models import User
from bench import noise, report, seed, servers
from bench.abusive_clients import FRAMES, KINDS, abusive_clients
from bench.report import Target, milliseconds
from bench.servers import Server
from bench.sessions import open_councils
from devserver.ports import LOOPBACK
from simulator import process

ABUSIVE = 1_000
# Owners of the sockets: one user may have 50 in a process.
_SOCKET_OWNERS = 5
_WARM_UP_SECONDS = 5.0
_BEFORE_SECONDS, _DURING_SECONDS = 20.0, 40.0
# Seconds until all abusive connections are open.
_OPEN_SECONDS = 3.0
# Seconds until all abusive connections have ended: the longest deadline is 60 s.
_AFTER_SECONDS = 75.0
_PASSWORD = secrets.token_urlsafe()
# Seconds between two requests of each kind: below the limits of one address.
_PACES = {"a profile": 0.2, "a list": 0.2, "a call": 0.1, "signing in": 2.0}
_KEYS = 20
_CHAT = {"model": "gpt-6-luna", "messages": [{"role": "user", "content": "How deep is the sea?"}]}


@dataclass(frozen=True, slots=True)
class NormalUser:
    """A user whose requests are measured."""

    email: str
    token: str
    keys: list[str]
    address: str = LOOPBACK


@dataclass(slots=True)
class Timings:
    """The seconds of each kind of request, and the refused requests."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Memory is in bytes of proportional set size; `opened` counts the abusive connections by
    kind."""

    before: Timings
    during: Timings
    memory_before: int
    memory_peak: int
    memory_after: int
    opened: Counter[str]

    def ratio(self, name: str, of: Callable[[list[float]], float]) -> float:
        return of(self.during.seconds[name]) / of(self.before.seconds[name])


def run() -> list[Target]:
    """Measure and print."""
    logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each request
    with process.running("--bench") as simulator, servers.service(simulator) as server:
        sockets = [each.path for each in open_councils(_SOCKET_OWNERS)]
        with noise.reported("the abusive connections"):
            outcome = measure(server, normal_user(), sockets)
    _print(outcome)
    refused = ", ".join(f"{n} x {what}" for what, n in outcome.during.refused.items()) or "none"
    worst = {
        name: max(outcome.ratio(each, of) for each in _PACES)
        for name, of in (("median", median), ("p95", p95))
    }
    back = outcome.memory_after / outcome.memory_before
    least = min(outcome.opened[kind] for kind in (*KINDS, FRAMES))
    each = ABUSIVE // (len(KINDS) + 1)
    return [
        Target("abusive connections of each kind", f"{least:,}", f">= {each}", least >= each),
        Target("normal requests refused", refused, "none", not outcome.during.refused),
        *(
            Target(f"normal requests, {name}", f"{ratio:.2f}x", "<= 2x", ratio <= 2)
            for name, ratio in worst.items()
        ),
        Target("memory after abusive connections", f"{back:.2f}x", "<= 1.20x", back <= 1.2),
    ]


def measure(
    server: Server,
    user: NormalUser,
    sockets: list[str],
    *,
    connections: int = ABUSIVE,
    warm_up: float = _WARM_UP_SECONDS,
    before: float = _BEFORE_SECONDS,
    during: float = _DURING_SECONDS,
    after: float = _AFTER_SECONDS,
) -> Outcome:
    """Measure normal requests alone, and beside this many abusive connections from another
    process."""
    ask(server.port, user, warm_up)  # memory that the first requests load is no growth
    alone = ask(server.port, user, before)
    memory = server.memory()
    with highest(server.memory) as peak:
        with abusive_clients(server.port, sockets, each=connections // (len(KINDS) + 1)) as opened:
            time.sleep(_OPEN_SECONDS)
            beside = ask(server.port, user, during)
        time.sleep(after)  # a sleep, not a condition: memory is measured when it has settled
    return Outcome(alone, beside, memory, peak(), server.memory(), opened)


def normal_user(address: str = LOOPBACK) -> NormalUser:
    """A user with a password, and with keys for the rate limit of each."""
    accounts = seed.open_accounts(_KEYS)
    with transaction.atomic():
        user = User.objects.get(pk=accounts[0].account_id)
        user.set_password(_PASSWORD)
        user.save()
        token = seed.open_sessions([user])[user.pk]
    return NormalUser(user.email, token, [account.key for account in accounts], address)


def ask(port: int, user: NormalUser, seconds: float) -> Timings:
    """Send normal requests of each kind, at the pace of each."""
    timings, keys = Timings(), cycle(user.keys)
    token = {"Authorization": f"Bearer {user.token}"}
    sign_in = {"email": user.email, "password": _PASSWORD}
    requests: dict[str, Callable[[httpx.Client], httpx.Response]] = {
        "a profile": lambda http: http.get("/api/users/me", headers=token),
        "a list": lambda http: http.get("/api/conversations", headers=token),
        "a call": lambda http: http.post(
            "/v1/chat/completions", json=_CHAT, headers={"Authorization": f"Bearer {next(keys)}"}
        ),
        "signing in": lambda http: http.post("/api/auth/login", json=sign_in),
    }

    def repeat(name: str) -> None:
        transport = httpx.HTTPTransport(local_address=user.address)
        base_url = f"http://{LOOPBACK}:{port}"
        with httpx.Client(base_url=base_url, transport=transport, timeout=30) as http:
            ends = time.monotonic() + seconds
            while (began := time.monotonic()) < ends:
                try:
                    status = requests[name](http).status_code
                except httpx.HTTPError as error:
                    status = type(error).__name__  # type: ignore[assignment]
                took = time.monotonic() - began
                timings.seconds[name].append(took)
                if status != httpx.codes.OK:
                    timings.refused[f"{name}: {status}"] += 1
                time.sleep(max(0.0, _PACES[name] - took))

    with ThreadPoolExecutor(len(requests)) as threads:
        list(threads.map(repeat, requests))
    return timings


def p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20)[18]


@contextmanager
def highest(memory: Callable[[], int]) -> Iterator[Callable[[], int]]:
    """The maximum of the memory while the block lasts."""
    values, is_over = [memory()], Event()

    def watch() -> None:
        while not is_over.wait(0.2):
            values[0] = max(values[0], memory())

    thread = Thread(target=watch)
    thread.start()
    try:
        yield lambda: values[0]
    finally:
        is_over.set()
        thread.join()


def _print(outcome: Outcome) -> None:
    before, during = outcome.before, outcome.during
    rows = [
        (
            name,
            milliseconds(median(before.seconds[name])),
            milliseconds(median(during.seconds[name])),
            f"{outcome.ratio(name, median):.2f}",
            milliseconds(p95(before.seconds[name])),
            milliseconds(p95(during.seconds[name])),
            f"{outcome.ratio(name, p95):.2f}",
        )
        for name in _PACES
    ]
    print(f"Normal requests alone, and beside {ABUSIVE:,} abusive connections of eight kinds")
    header = ("", "median", "beside", "ratio", "p95", "beside", "ratio")
    print(report.table(header, rows))
    figures = (outcome.memory_before, outcome.memory_peak, outcome.memory_after)
    megabytes = [f"{each / 1024 / 1024:.0f} MB" for each in figures]
    print("Memory before, at its peak and after: " + ", ".join(megabytes), end="\n\n", flush=True)
