"""`manage.py seed_plans`: put the plans on offer into the database. May be run again."""

from typing import Any

from django.core.management.base import BaseCommand

from billing.services.plans import seed_plans


class Command(BaseCommand):
    help = "Add the plans and allowances that are missing. Run seed_catalog first."

    def handle(self, *args: Any, **options: Any) -> None:
        report = seed_plans()
        self.stdout.write(f"Plans: {report.plans} added, {report.allowances} allowances added.")
