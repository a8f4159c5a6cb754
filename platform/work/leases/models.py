"""Leases. The functions in `sql/` write them."""

from django.db import models


class Lease(models.Model):
    """Says that an owner of charges and jobs lives, until `expires_at`; None: until it is ended.

    A process (`kind` is `web` or `worker`) renews its lease every 10 s. A job for which charges are
    held (`job`) has a lease until it ends. `doubted_at` is when a sweep first found the lease
    expired; a renewal clears it.
    """

    owner_id = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=16)
    expires_at = models.DateTimeField(null=True)
    doubted_at = models.DateTimeField(null=True)
