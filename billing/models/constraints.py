"""Constraints of amounts."""

from django.db.models import CheckConstraint, Q
from django.db.models.functions import Least
from django.db.models.lookups import GreaterThanOrEqual


def not_negative(name: str, *columns: str) -> CheckConstraint:
    """None of these columns is below zero. One comparison of the least: it is evaluated for every
    statement that writes the table."""
    return CheckConstraint(condition=Q(GreaterThanOrEqual(Least(*columns), 0)), name=name)
