"""All measurements in order, with their targets and output."""

from collections.abc import Collection
from statistics import median
from uuid import UUID

import uvloop
from django.db import connection

from bench import (
    abuse,
    admin,
    api,
    chat,
    conversations,
    estimates,
    live,
    noise,
    open_streams,
    operate,
    pgbench,
    projects,
    report,
    repositories,
    seed,
    servers,
    sizes,
    studios,
    throughput,
    usage,
    web_app,
)
from bench.load import Result
from bench.quality import part as quality
from bench.report import Target, milliseconds
from bench.servers import Server
from bench.throughput import CONNECTIONS, Series, Subject
from billing.models import Charge
from billing.services.reconciliation import find_violations
from simulator import process
from simulator.process import RunningSimulator

ACCOUNTS = 2_000
PGBENCH_ACCOUNTS = 1_000
ACCOUNTS_WITH_TOOLS = 500
# On plan Max an allowance pays for the first model; the second has none, so the balance pays.
PGBENCH_MODELS = {"allowance": "gpt-6-luna", "balance": "text-embedding-3-small"}


def run(
    *,
    rounds: int,
    seconds: int,
    only: str | None = None,
    tasks: Collection[str] = (),
    conditions: Collection[str] = (),
    real: dict[str, str] | None = None,
) -> None:
    """Measure all parts or one, and print. Django is set up, and its database is empty. `tasks`,
    `conditions` and `real` are of the part `quality`."""
    seed.prepare_database()
    parts = {
        "calls": lambda: _calls(rounds, seconds),
        "past": _with_a_long_past,
        "live": live.run,
        "chat": _chat,
        "projects": projects.run,
        "repositories": repositories.run,
        "quality": lambda: quality.run(real, tasks, conditions),
        "studios": studios.run,
        "abuse": abuse.run,
        "operate": operate.run,
        "estimates": estimates.run,
        "sizes": sizes.run,
    }
    targets: list[Target] = []
    for name, measure in parts.items():
        if only in (None, name):
            seed.begin_part()
            targets += measure()
    print("\n" + report.verdicts(targets))


def _chat() -> list[Target]:
    """Conversations: replies, the requests of a chat window, and `/api` beside its statements."""
    targets = [*chat.run(), *conversations.run()]
    api.run()
    return targets


def _calls(rounds: int, seconds: int) -> list[Target]:
    """The public interface under load, and the money functions."""
    accounts = seed.open_accounts(ACCOUNTS)
    keys = [account.key for account in accounts]
    with_tools = seed.open_accounts(ACCOUNTS_WITH_TOOLS, features=["tools"])
    keys_with_tools = [account.key for account in with_tools]
    with process.running("--bench") as simulator:
        targets, answered = _compare(simulator, keys, keys_with_tools, rounds, seconds)
        more, streamed = _hold_streams_open(simulator, keys)
        beside, called = _compare_with_peer(simulator, keys, rounds, seconds)
        embedding, embedded = _compare_embeddings(simulator, keys, rounds, seconds)
    targets += [*more, *beside, *embedding]
    targets.append(_accounting(answered + streamed + called + embedded))
    with noise.reported("pgbench"):
        targets += _money_functions(accounts[:PGBENCH_ACCOUNTS], seconds)
    return targets


def _compare(
    simulator: RunningSimulator,
    keys: list[str],
    keys_with_tools: list[str],
    rounds: int,
    seconds: int,
) -> tuple[list[Target], int]:
    """Measure simulator, yardstick and service in turn. Also returns how many calls the service
    answered."""
    with servers.yardstick(simulator) as yardstick, servers.service(simulator) as service:
        ports = (simulator.port, yardstick.port, service.port)
        subjects = [Subject(port, keys, keys_with_tools) for port in ports]
        with noise.reported("the comparison"):
            uvloop.run(throughput.measure(subjects, rounds=rounds, seconds=seconds))
    direct, bare, ours = (subject.series for subject in subjects)
    named = {"upstream": direct, "yardstick": bare, "service": ours}
    _print_rates(named, yardstick="yardstick", rounds=rounds)
    _print_tools(named)
    results = [*ours.results(), subjects[2].warm_up]
    added = ours.alone_median - direct.alone_median
    plain, streams = ours.plain_rate / bare.plain_rate, ours.stream_rate / bare.stream_rate
    tools = ours.tools_rate / bare.tools_rate
    headroom = direct.plain_rate / ours.plain_rate
    targets = [
        Target("plain calls, of the yardstick", f"{plain:.2f}", ">= 0.20", plain >= 0.20),
        Target("streams, of the yardstick", f"{streams:.2f}", ">= 0.50", streams >= 0.50),
        Target("tools, streamed, of the yardstick", f"{tools:.2f}", ">= 0.50", tools >= 0.50),
        Target("added to a call alone", milliseconds(added), "<= 3 ms", added <= 0.003),
        Target("the upstream, of the service", f"{headroom:.1f}", ">= 3", headroom >= 3),
        _none_failed("calls refused or broken", results),
    ]
    return targets, sum(len(result.latencies) for result in results)


def _print_rates(subjects: dict[str, Series], *, yardstick: str, rounds: int) -> None:
    bare = subjects[yardstick]
    rows = [
        (
            name,
            f"{series.plain_rate:,.0f}",
            f"{series.plain_rate / bare.plain_rate:.2f}",
            f"{series.stream_rate:,.0f}",
            f"{series.stream_rate / bare.stream_rate:.2f}",
            milliseconds(series.alone_median),
            milliseconds(series.alone_p99),
        )
        for name, series in subjects.items()
    ]
    print(f"{CONNECTIONS} connections, then one alone; medians of {rounds} rounds in turn")
    header = ("", "plain/s", "ratio", "streams/s", "ratio", "alone", "p99")
    print(report.table(header, rows), end="\n\n", flush=True)


def _print_tools(subjects: dict[str, Series]) -> None:
    bare = subjects["yardstick"].tools_rate
    rows = [
        (name, f"{series.tools_rate:,.0f}", f"{series.tools_rate / bare:.2f}")
        for name, series in subjects.items()
    ]
    print(f"Streams of tool calls, {CONNECTIONS} connections")
    print(report.table(("", "tools/s", "ratio"), rows), end="\n\n", flush=True)


def _hold_streams_open(simulator: RunningSimulator, keys: list[str]) -> tuple[list[Target], int]:
    with servers.service(simulator) as service, noise.reported("the open streams"):
        outcome = uvloop.run(open_streams.measure(service, keys))
    each = outcome.bytes_each / 1024
    print(
        f"{open_streams.STREAMS:,} open streams: {each:.0f} KB each; a plain call takes "
        f"{milliseconds(outcome.beside.median)} beside them, {milliseconds(outcome.idle.median)} "
        f"without (p99 {milliseconds(outcome.beside.p99)}, {milliseconds(outcome.idle.p99)})\n",
        flush=True,
    )
    targets = [
        Target("memory of an open stream", f"{each:.0f} KB", "<= 100 KB", each <= 100),
        _none_failed("open streams dropped", [outcome.streams]),
        Target("a call beside them", f"{outcome.slowdown:.1f}x", "< 3x", outcome.slowdown < 3),
        _none_failed("calls beside them refused", outcome.plain),
    ]
    return targets, sum(len(result.latencies) for result in [outcome.streams, *outcome.plain])


def _compare_with_peer(
    simulator: RunningSimulator, keys: list[str], rounds: int, seconds: int
) -> tuple[list[Target], int]:
    with servers.litellm(simulator) as litellm, servers.service(simulator) as service:
        subjects = [Subject(port, keys) for port in (litellm.port, service.port)]
        with noise.reported("the comparison with LiteLLM"):
            uvloop.run(throughput.measure(subjects, rounds=rounds, seconds=seconds))
    theirs, ours = (subject.series for subject in subjects)
    plain, streams = ours.plain_rate / theirs.plain_rate, ours.stream_rate / theirs.stream_rate
    _print_rates({"LiteLLM": theirs, "service": ours}, yardstick="LiteLLM", rounds=rounds)
    results = [*ours.results(), subjects[1].warm_up]
    targets = [
        Target("plain calls, of LiteLLM's", f"{plain:.1f}x", ">= 12x", plain >= 12),
        Target("streams, of LiteLLM's", f"{streams:.1f}x", ">= 25x", streams >= 25),
        _none_failed("calls beside LiteLLM refused or broken", results),
    ]
    return targets, sum(len(result.latencies) for result in results)


def _compare_embeddings(
    simulator: RunningSimulator, keys: list[str], rounds: int, seconds: int
) -> tuple[list[Target], int]:
    with (
        servers.yardstick(simulator) as yardstick,
        servers.service(simulator) as service,
        noise.reported("the embeddings"),
    ):
        ports = (yardstick.port, service.port)
        bare, ours = uvloop.run(throughput.measure_embeddings(ports, keys, rounds, seconds))
    ratio = ours.median / bare.median
    print(
        f"{throughput.INPUTS} inputs, vectors in base64: {milliseconds(ours.median)}, "
        f"the bare pass-through {milliseconds(bare.median)}\n",
        flush=True,
    )
    targets = [
        Target("embeddings, of the yardstick's time", f"{ratio:.2f}", "<= 1.30", ratio <= 1.3),
        _none_failed("embeddings calls refused or broken", [ours]),
    ]
    return targets, len(ours.latencies)


def _money_functions(accounts: list[seed.Account], seconds: int) -> list[Target]:
    targets = []
    for count, promised in ((len(accounts), 1_500), (1, 400)):
        for payer, model in PGBENCH_MODELS.items():
            rate = pgbench.pairs_per_second(accounts[:count], model=model, seconds=seconds)
            where = "one account" if count == 1 else f"{count:,} accounts"
            name = f"hold + settle, {where}, {payer} pays"
            targets.append(Target(name, f"{rate:,.0f}/s", f">= {promised:,}/s", rate >= promised))
    return targets


def _with_a_long_past() -> list[Target]:
    """The requests of the owner of a million charges, and of operators."""
    reporter = usage.seed_past()
    rows = web_app.seed_ledger(reporter.account_id)
    with process.running("--bench") as simulator, servers.service(simulator) as service:
        targets = [_usage_report(service, reporter), *_web_app(service, reporter.account_id, rows)]
    with noise.reported("the admin"):
        return [*targets, *admin.run()]


def _usage_report(service: Server, reporter: usage.Reporter) -> Target:
    with noise.reported("the usage report"):
        outcome = usage.measure(service, reporter)
    seconds = median(outcome.reports)
    print(
        f"The usage report over {usage.CHARGES:,} charges, {outcome.rows:,} rows of the rollup: "
        f"{milliseconds(seconds)}, p99 {milliseconds(outcome.p99)}; the list of models "
        f"{milliseconds(median(outcome.lists))}; read from the charges themselves "
        f"{milliseconds(median(outcome.direct))}\n",
        flush=True,
    )
    name = f"usage report over {usage.CHARGES:,} charges"
    return Target(name, milliseconds(seconds), "< 50 ms", seconds < 0.05)


def _web_app(service: Server, account_id: UUID, ledger: int) -> list[Target]:
    with noise.reported("the web app's questions"):
        times = web_app.measure(service, account_id)
    middle = {name: median(seconds) for name, seconds in times.items()}
    rows = [
        (
            name,
            milliseconds(middle[name]),
            milliseconds(report.p99(seconds)),
            f"{middle[name] / middle[web_app.ME]:.2f}",
        )
        for name, seconds in times.items()
        if name not in (web_app.LOGIN, web_app.ARGON2)
    ]
    print(
        f"Signing in: {milliseconds(middle[web_app.LOGIN])}, of which the hash of the password is "
        f"{milliseconds(middle[web_app.ARGON2])}"
    )
    print(f"The web app's questions, one at a time, of an account with {ledger:,} ledger rows")
    header = ("", "median", "p99", "of /api/auth/me")
    print(report.table(header, rows), end="\n\n", flush=True)
    targets = [
        Target(name, milliseconds(middle[name]), f"< {promised} ms", middle[name] < promised / 1000)
        for name, promised in web_app.PROMISED.items()
    ]
    ratio = middle[web_app.LOGIN] / middle[web_app.ARGON2]
    return [
        *targets,
        Target("signing in, of Argon2 alone", f"{ratio:.2f}", "<= 1.25", ratio <= 1.25),
    ]


def _none_failed(name: str, results: list[Result]) -> Target:
    failures = sum((result.failures for result in results), start=Result().failures)
    seen = ", ".join(f"{count} x {what}" for what, count in failures.items())
    return Target(name, seen or "none", "none", not failures)


def _accounting(answered: int) -> Target:
    """Every answered call is settled, nothing is held, and the invariants hold."""
    connection.close()  # the connection was idle for a long time
    settled = Charge.objects.filter(status=Charge.Status.SETTLED).count()
    others = Charge.objects.exclude(status=Charge.Status.SETTLED).count()
    broken = len(find_violations())
    measured = f"{settled:,} of {answered:,}, {others} others, {broken} violations"
    met = settled == answered and not others and not broken
    return Target("answered calls settled", measured, "all", met)
