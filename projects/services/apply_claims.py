"""Keeps a run's staged files as they are while an order writes them."""

import math

from django.utils import timezone

from projects.errors import ApplyInProgress
from projects.models import Apply, Run


def check_no_claim(run: Run) -> None:
    """Raises ApplyInProgress where an order of a run whose row is held has not ended."""
    order = run.applies.filter(ended_at=None).first()
    if order is not None:
        raise in_progress(order)


def in_progress(order: Apply) -> ApplyInProgress:
    """Says when the order has ended for certain. Most end sooner."""
    left = (order.claim_until - timezone.now()).total_seconds()
    return ApplyInProgress(retry_after=max(1, math.ceil(left)))
