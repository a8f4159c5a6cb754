"""`manage.py reconcile`: check the invariants of money; exit 1 where one is broken."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from billing.invariants import get_invariants
from billing.services.sweeps import find_violations


class Command(BaseCommand):
    help = "Check the invariants of money. Exits with 1 and names each broken row."

    def handle(self, *args: Any, **options: Any) -> None:
        violations = find_violations()
        for violation in violations:
            self.stderr.write(
                f"{violation.invariant.name}: {violation.invariant.promise} {violation.row}"
            )
        if violations:
            raise CommandError(f"{len(violations)} rows break an invariant.")
        self.stdout.write(f"All {len(get_invariants())} invariants hold.")
