"""The daily limit (UTC) on the platform's costs for probes of providers."""

from django.conf import settings
from django.db import connection

from accounts.services.platform_account import PLATFORM_ID
from common.money import NUSD_PER_USD


def is_spent() -> bool:
    """Is PROBE_DAILY_BUDGET_USD spent? Probes that run count with their worst cost."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT account_costs_today(%s)", (PLATFORM_ID,))
        [spent] = cursor.fetchone()
    return bool(spent >= settings.PROBE_DAILY_BUDGET_USD * NUSD_PER_USD)
