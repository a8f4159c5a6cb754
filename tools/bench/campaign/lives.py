"""Lives, one after the other, and what is kept of them."""

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.campaign import report
from bench.campaign.life import Life, Outcome
from bench.campaign.schedule import schedule
from bench.campaign.stores import Stores
from devserver.paths import ROOT

KEPT = ROOT / "var/campaign"


def live(stores: Stores, folder: Path, seeds: Sequence[int], *, seconds: float, keep: bool) -> bool:
    """Live the lives of these seeds, each with so many seconds of traffic, and print what came of
    them. What there is of a life that fails is kept; with `keep` of each, and its database. Was all
    well?"""
    outcomes: list[Outcome] = []
    for number, seed in enumerate(seeds, start=1):
        life = folder / str(seed)
        life.mkdir()
        with _logging_to(life / "clients.log"):
            outcome = Life(schedule(seed, seconds), stores, life).live()
        outcomes.append(outcome)
        print(report.progress(number, len(seeds), outcomes), flush=True)
        if outcome.violations or keep:
            kept = _keep(life)
            if keep:
                stores.dump(kept / "database.dump")
            print(report.of_life(outcome, kept), flush=True)
        stores.end_life()
        shutil.rmtree(life)
    print(report.summary(outcomes))
    return not any(outcome.violations for outcome in outcomes)


@contextmanager
def _logging_to(path: Path) -> Iterator[None]:
    """What this process logs, in which clients and operators act, goes into a file of the life."""
    handlers = [
        each for each in logging.getLogger().handlers if isinstance(each, logging.StreamHandler)
    ]
    with path.open("w") as file:
        before = [(handler, handler.setStream(file)) for handler in handlers]
        try:
            yield
        finally:
            for handler, stream in before:
                handler.setStream(stream)


def _keep(life: Path) -> Path:
    """Copy what there is of a life to where it stays."""
    kept = KEPT / life.name
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(life, kept)
    return kept
