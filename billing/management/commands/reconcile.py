"""`manage.py reconcile`: check the invariants of money; exit 1 where one is broken."""

import time
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from billing.invariants import get_invariants
from billing.services.reconciliation import ACCOUNTS, Progress, check_changes, check_everything


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError("Give a number from 1 on.")
    return int(text)


class Command(BaseCommand):
    help = (
        "Check the invariants of money: of what changed since the last pass, or of everything."
        " Exits with 1 and names each broken row."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="check the whole history")
        parser.add_argument(
            "--accounts",
            type=_at_least_one,
            default=ACCOUNTS,
            help="with --all: so many at a time",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["all"]:
            violations = check_everything(
                accounts=options["accounts"], tell=self._progress(time.monotonic())
            )
        else:
            violations = check_changes()
        for violation in violations:
            self.stderr.write(
                f"{violation.invariant.name}: {violation.invariant.promise} {violation.row}"
            )
        if violations:
            raise CommandError(f"{len(violations)} rows break an invariant.")
        what = f"All {len(get_invariants())} invariants hold"
        self.stdout.write(f"{what}." if options["all"] else f"{what} for what has changed.")

    def _progress(self, begun: float) -> Any:
        def tell(progress: Progress) -> None:
            seconds = time.monotonic() - begun
            left = seconds / progress.done * (progress.total - progress.done)
            self.stdout.write(
                f"{progress.done:,} of {progress.total:,} accounts in {seconds:.0f} s,"
                f" about {left:.0f} s left"
            )

        return tell
