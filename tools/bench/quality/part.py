"""The part of the benchmark: all tasks under all conditions, the table, the targets."""

import tempfile
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from bench import noise, report, seed, servers
from bench.quality import confinement
from bench.quality.conditions import CONDITIONS, FAILING, REAL, Condition
from bench.quality.doing import Done, Ordered, carry_out
from bench.quality.material import tasks
from bench.quality.person import Person
from bench.report import Target
from bench.session_client import access_tokens
from devserver.ports import LOOPBACK
from simulator import process
from simulator.process import RunningSimulator

SEED = 17
_AT_ONCE = 4
_TIMEOUT = 90  # seconds of one request
_SIMULATED = ("openai", "anthropic", "xai")


def run(
    real: dict[str, str] | None = None,
    names: Collection[str] = (),
    conditions: Collection[str] = (),
) -> list[Target]:
    """Measure and print. `real` are keys of providers and their addresses: with some, their models
    do the tasks. `names` and `conditions` are those that are wanted, by default all."""
    with tempfile.TemporaryDirectory(prefix="quality-") as folder:
        refusal = confinement.why_not(Path(folder))
    if refusal:
        print(f"Results are not run, as they cannot be confined here: {refusal}.", flush=True)
    wanted = (
        [REAL]
        if real
        else [each for each in CONDITIONS if each.name in conditions or not conditions]
    )
    targets = []
    with process.running() as simulator:
        environment = real or _simulated(simulator)
        with (
            servers.service(simulator, **environment) as server,
            servers.worker(simulator, **environment),
            noise.reported("the tasks"),
        ):
            for condition in wanted:
                orders = [
                    Ordered(task, condition, number, SEED + number, bool(real), not refusal)
                    for number, task in enumerate(tasks())
                    if task.name in names or not names
                ]
                done = _measure(condition, orders, simulator, server.port)
                _print(condition, done)
                targets += _targets(condition, done)
    return targets


def _simulated(simulator: RunningSimulator) -> dict[str, str]:
    names = {name: f"{simulator.url}/{name}" for name in _SIMULATED}
    addresses = {f"{name.upper()}_BASE_URL": url for name, url in names.items()}
    for name in ("openai", "xai"):
        addresses[f"{name.upper()}_BASE_URL"] += "/v1"
    return {**{f"{name.upper()}_API_KEY": "unused" for name in names}, **addresses}


def _measure(
    condition: Condition, orders: Sequence[Ordered], simulator: RunningSimulator, port: int
) -> list[Done]:
    """Some tasks at a time, each by somebody new."""
    tokens = access_tokens(seed.open_accounts(len(orders)))

    def do(order: Ordered, token: str) -> Done:
        # Each from an address of its own: what one address may ask is limited.
        with httpx.Client(
            base_url=f"http://{LOOPBACK}:{port}",
            headers={"Authorization": f"Bearer {token}"},
            transport=httpx.HTTPTransport(local_address=f"127.0.2.{order.number + 1}"),
            timeout=_TIMEOUT,
        ) as http:
            return carry_out(order, Person(http), simulator.githost)

    if condition.vendor_fails:
        simulator.begin_outage(FAILING, status=503)
    try:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(do, orders, tokens))
    finally:
        simulator.end_outages()


def _print(condition: Condition, done: Sequence[Done]) -> None:
    rows = [
        (each.task, _verdict(each), f"{each.seconds:.1f} s", f"{each.cost_usd:.4f}", each.status)
        for each in done
    ]
    print(f"{condition.name}: {_share(done)} solved")
    print(report.table(("task", "", "time", "USD", "run"), rows, left=2))
    for each in done:
        for words in [*(each.faults or [])[:3], *(f"({note})" for note in each.notes[:3])]:
            print(f"  {each.task}: {words}")
    print(flush=True)


def _verdict(done: Done) -> str:
    if done.faults is None:
        return "not judged"
    return "solved" if done.is_solved else "FAILED"


def _share(done: Sequence[Done]) -> str:
    judged = [each for each in done if each.faults is not None]
    return f"{sum(each.is_solved for each in judged)} of {len(judged)}"


def _targets(condition: Condition, done: Sequence[Done]) -> list[Target]:
    """Where not all tasks were done and judged, nothing was promised."""
    if not condition.least or any(each.faults is None for each in done) or len(done) < len(tasks()):
        return []
    solved = sum(each.is_solved for each in done)
    name = f"tasks solved, {condition.name}"
    return [Target(name, _share(done), f">= {condition.least}", solved >= condition.least)]
