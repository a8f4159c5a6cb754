"""Hold and settle as pairs of transactions, by PostgreSQL's own load generator.

pgbench is in the same wheel as the server. The tables are checked afterwards, because a refused
hold would be fast and useless.
"""

import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

from django.db import connection
from django.utils import timezone

from ai.catalog.models import PriceVersion
from bench.seed import Account
from bench.servers import BenchError
from billing.models import Charge
from devserver import postgres
from work.leases.models import Lease

CLIENTS = 16
# Nano-USD: the hold and the cost of a short call of a cheap model.
_WORST_COST = 2_000_000
_COST = 150_000
_ALONE = 3  # seconds of pairs before an act
_PAIR = """
\\set n random(1, {accounts})
SELECT charge FROM bench_account, uuidv7() AS charge,
    money_hold(json_build_object(
        'charge_id', charge, 'account_id', account_id, 'api_key_id', api_key_id,
        'model_id', '{model}', 'price_version_id', {price}, 'source', 'api', 'kind', 'chat',
        'worst_cost', {worst}, 'owner_id', '{owner}', 'seconds', 600, 'request_id', 'bench',
        'funding', 'customer', 'free_window', false))
WHERE n = :n \\gset
SELECT outcome FROM money_resolve(json_build_object(
    'charge_id', CAST(:charge AS uuid), 'status', 'settled', 'cost', {cost},
    'units', json_build_object('tokens_in', 100, 'tokens_out', 60)));
"""


def pairs_per_second(accounts: Sequence[Account], *, model: str, seconds: int) -> float:
    """Settled pairs per second over these accounts. Raises BenchError if any pair failed."""
    script, owner = _prepare(accounts, model)
    report = _run(script, seconds)
    _check(report, owner)
    return _number(r"tps = ([\d.]+)", report)


@dataclass(frozen=True, slots=True)
class LongestPairs:
    """How long the longest pair took before an act, and while the act lasted, in seconds."""

    before: float
    during: float


def longest_pairs(
    accounts: Sequence[Account], act: Callable[[], object], *, model: str
) -> LongestPairs:
    """How long pairs take while something else happens. Raises BenchError if any pair failed, or
    none overlaps the act."""
    script, owner = _prepare(accounts, model)
    with tempfile.TemporaryDirectory() as folder:
        span: list[float] = []

        def act_in_the_middle() -> None:
            time.sleep(_ALONE)
            span.append(time.time())
            act()
            span.append(time.time())

        actor = threading.Thread(target=act_in_the_middle)
        actor.start()
        report = _run(script, 3 * _ALONE, "--log", f"--log-prefix={folder}/pairs")
        actor.join()
        pairs = [pair for log in Path(folder).iterdir() for pair in _logged(log)]
    _check(report, owner)
    begun, ended = span
    before = [seconds for seconds, end in pairs if end < begun]
    during = [seconds for seconds, end in pairs if end >= begun and end - seconds <= ended]
    if not before or not during:
        raise BenchError("No pair was made before the act, or while it lasted.")
    return LongestPairs(max(before), max(during))


def _logged(log: Path) -> list[tuple[float, float]]:
    """The seconds that each pair took, and when it ended, of a log of pgbench."""
    rows = [line.split() for line in log.read_text().splitlines()]
    return [(int(row[2]) / 1e6, int(row[4]) + int(row[5]) / 1e6) for row in rows]


def _prepare(accounts: Sequence[Account], model: str) -> tuple[str, UUID]:
    """The script of a pair over these accounts, and the owner of its charges."""
    _list_accounts(accounts)
    owner = uuid4()
    Lease.objects.create(
        owner_id=owner, kind="bench", expires_at=timezone.now() + timedelta(hours=1)
    )
    script = _PAIR.format(
        accounts=len(accounts),
        model=model,
        price=PriceVersion.objects.filter(model=model).latest("valid_from").pk,
        worst=_WORST_COST,
        owner=owner,
        cost=_COST,
    )
    return script, owner


def _list_accounts(accounts: Sequence[Account]) -> None:
    """A numbered table of accounts, from which the script draws."""
    rows = [(n, row.account_id, row.api_key_id) for n, row in enumerate(accounts, start=1)]
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_account")
        cursor.execute(
            "CREATE TABLE bench_account (n int PRIMARY KEY, account_id uuid, api_key_id uuid)"
        )
        cursor.executemany("INSERT INTO bench_account VALUES (%s, %s, %s)", rows)
        cursor.execute("ANALYZE")


def _run(script: str, seconds: int, *options: str) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        command = [postgres.binary("pgbench"), "--no-vacuum", "--protocol=prepared", "--jobs=2"]
        command += [f"--client={CLIENTS}", f"--time={seconds}", f"--file={file.name}"]
        command += options
        url = re.sub("^postgres:", "postgresql:", os.environ["DATABASE_URL"])
        done = subprocess.run([*command, url], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"pgbench ended with {done.returncode}.\n{done.stderr.strip()}")
    return done.stdout


def _check(report: str, owner: UUID) -> None:
    made = int(_number(r"transactions actually processed: (\d+)", report))
    settled = Charge.objects.filter(owner_id=owner, status=Charge.Status.SETTLED).count()
    if made != settled:
        raise BenchError(f"pgbench made {made} pairs, but {settled} charges were settled.")


def _number(pattern: str, report: str) -> float:
    found = re.search(pattern, report)
    if found is None:
        raise BenchError(f"pgbench's report is not understood:\n{report}")
    return float(found[1])
