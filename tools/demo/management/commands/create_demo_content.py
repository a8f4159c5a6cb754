"""`manage.py create_demo_content`: pages, news and banners to look at. Development only; may be run
again."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from demo.content import add_entries


class Command(BaseCommand):
    help = "Add pages, news and banners, where there are none."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO_SEEDS:
            raise CommandError("Demo content is off here. DEMO=1 allows it, in development.")
        if count := add_entries():
            self.stdout.write(f"Added {count} pages, news and banners.")
