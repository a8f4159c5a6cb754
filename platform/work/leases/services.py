"""Leases of owners that are no processes."""

from uuid import UUID

from django.db import connection


def grant(*, owner_id: UUID, kind: str) -> None:
    """Give an owner a lease, unless it has one. The lease lasts until it is ended."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT lease_grant(%s, %s)", (owner_id, kind))
