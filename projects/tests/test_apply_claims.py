"""POST /changes/apply: how long an order keeps others from applying."""

from datetime import timedelta

import pytest
from django.db.models import F

from projects.models import Apply
from projects.tests.reviewer import CHANGES, Reviewer


def test_a_claim_lasts_for_120_seconds_and_then_another_order_is_taken(
    reviewer_on_github: Reviewer,
) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail("create_ref", drop=True, times=100)
    assert reviewer.try_to_apply(run, branch="ai/x").status_code == 502
    reviewer.hosted.control.stop_failing()
    order = Apply.objects.get(run=run["id"])
    lasts = (order.claim_until - order.created_at).total_seconds()
    assert lasts == pytest.approx(120, abs=2)

    def let_pass(seconds: float) -> None:
        earlier = F("claim_until") - timedelta(seconds=seconds)
        Apply.objects.filter(pk=order.pk).update(claim_until=earlier)

    let_pass(60)
    refused = reviewer.try_to_apply(run, branch="ai/x")
    assert (refused.status_code, refused.json()["code"]) == (409, "apply_in_progress")
    assert 30 < int(refused.headers["Retry-After"]) <= 60
    let_pass(60)
    result = reviewer.apply(run, branch="ai/x")
    assert (result["status"], result["id"] != str(order.pk)) == ("applied", True)
