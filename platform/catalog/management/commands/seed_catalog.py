"""`manage.py seed_catalog [--local]`: bring the catalog up to the price list."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from catalog.services import seed_catalog


class Command(BaseCommand):
    help = "Add new models and prices of the price list. Safe to repeat."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--local", action="store_true", help="also list the model served on this machine"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        report = seed_catalog(local=options["local"])
        self.stdout.write(
            f"Catalog: {report.models} models listed, {report.added} added, "
            f"{report.updated} updated, {report.prices_added} prices added."
        )
