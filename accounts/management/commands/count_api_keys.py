"""`manage.py count_api_keys`: how many API keys are stored under which pepper, and when those under
an earlier one were last used."""

from typing import Any

from django.core.management.base import BaseCommand

from accounts.models import ApiKey
from accounts.selectors.api_keys import under_earlier_peppers, under_the_newest_pepper
from common.times import iso_utc


class Command(BaseCommand):
    help = (
        "Count the API keys under API_KEY_PEPPER, and list those that are still under an earlier "
        "pepper, the most recently used first: they stop working when it is removed from "
        "API_KEY_PEPPER_FALLBACKS."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Under API_KEY_PEPPER: {under_the_newest_pepper().count()}.")
        left = list(under_earlier_peppers())
        self.stdout.write(f"Under an earlier pepper: {len(left)}.")
        for key in left:
            self.stdout.write(_line(key))


def _line(key: ApiKey) -> str:
    used = "never used" if key.last_used_at is None else f"last used {iso_utc(key.last_used_at)}"
    return f"{key.pk} …{key.hint} of account {key.account_id}: {used}"
