"""The daily limit (UTC) on the platform's costs for probes of providers."""

from django.conf import settings

from accounts.services.platform_account import PLATFORM_ID
from billing.queries import fetch_row
from common.money import NUSD_PER_USD


def is_spent() -> bool:
    """Is PROBE_DAILY_BUDGET_USD spent? Probes that run count with their worst cost."""
    [spent] = fetch_row("SELECT account_costs_today(%s)", PLATFORM_ID)
    return bool(spent >= settings.PROBE_DAILY_BUDGET_USD * NUSD_PER_USD)
