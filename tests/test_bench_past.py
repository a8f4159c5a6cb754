"""The past that the benchmark makes up could have been: the invariants of money hold."""

import pytest

from bench import usage, web_app
from billing.models import Charge, KeyMonth
from billing.services import reconciliation

pytestmark = pytest.mark.usefixtures("committed")


def test_the_benchmark_makes_up_a_complete_past(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "CHARGES", 2_000)

    reporter = usage.seed_past()
    web_app.seed_ledger(reporter.account_id)

    assert Charge.objects.filter(account=reporter.account_id).count() == 2_000
    assert KeyMonth.objects.filter(api_key__account=reporter.account_id).count() == 15
    assert reconciliation.find_violations() == []
