"""`python -m bench.campaign`: seeded lives of the whole service, attacked and broken on purpose.

What happens is a pure function of the seed; real time makes the outcomes vary. A life that fails
says how it is repeated.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from local.errors import LocalError
from local.paths import ROOT
from local.throwaway import stores

if TYPE_CHECKING:
    from bench.campaign.life import Outcome
    from bench.campaign.stores import Stores

KEPT = ROOT / "var/campaign"
SECONDS = 12.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.campaign", description=__doc__)
    parser.add_argument("--runs", type=int, default=1, help="how many lives")
    parser.add_argument("--seed", type=int, default=1, help="of the first life; others follow")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of traffic in each life")
    parser.add_argument("--keep", action="store_true", help="keep logs and data of all lives")
    options = parser.parse_args()
    # Logs and data of a life: PostgreSQL may be another user, and is not asked to read them.
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        try:
            with stores(durable=True) as started:
                outcomes = _live(_prepared(started), Path(folder), options)
        except LocalError as error:
            sys.exit(str(error))
    from bench.campaign import report

    print(report.summary(outcomes))
    return int(any(outcome.violations for outcome in outcomes))


def _prepared(started: object) -> "Stores":
    """Stores with a template for the databases of lives, and Django with the life's own."""
    from bench.campaign.stores import LIFE, TEMPLATE, Stores
    from local.throwaway import Stores as Throwaway

    assert isinstance(started, Throwaway)
    prepared = Stores(started)
    prepared.own_template()
    environment = {
        "DJANGO_SETTINGS_MODULE": "bench.campaign.settings",
        "DATABASE_URL": prepared.database_url(TEMPLATE),
        "DATABASE_POOL": "0",
        "REDIS_URL": prepared.redis_url(),
    }
    for command in ("migrate", "seed_catalog", "seed_plans"):
        subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), command, "--verbosity", "0"],
            env={**os.environ, **environment},
            check=True,
        )
    prepared.hurry()
    os.environ.update({**environment, "DATABASE_URL": prepared.database_url(LIFE)})
    import django

    django.setup()
    return prepared


def _live(prepared: "Stores", folder: Path, options: argparse.Namespace) -> "Sequence[Outcome]":
    from bench.campaign import report
    from bench.campaign.life import Life
    from bench.campaign.schedule import schedule

    outcomes: list[Outcome] = []
    for number in range(options.runs):
        seed = options.seed + number
        life = folder / str(seed)
        life.mkdir()
        outcome = Life(schedule(seed, options.seconds), prepared, life).live()
        outcomes.append(outcome)
        print(report.progress(number + 1, options.runs, outcomes), flush=True)
        if outcome.violations or options.keep:
            kept = _keep(life, prepared if options.keep else None)
            print(report.failure(outcome, kept), flush=True)
        prepared.end_life()
        shutil.rmtree(life)
    return outcomes


def _keep(life: Path, prepared: "Stores | None") -> Path:
    """Copy what there is of a life to where it stays, with its database where that is asked for."""
    kept = KEPT / life.name
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(life, kept)
    if prepared is not None:
        prepared.dump(kept / "database.dump")
    return kept


if __name__ == "__main__":
    sys.exit(main())
