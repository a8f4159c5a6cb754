"""Feature flags, as far as operators have changed them."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from common.ids import uuid7

_SHARE = Q(percent__gte=0, percent__lte=100, is_on=True, plan=None, user=None)
_NO_SHARE = Q(percent=None) & (Q(plan=None) | Q(user=None))


class FlagRecord(models.Model):
    """A flag that `content.flags` defines, or once did: what operators change it by, and what the
    history of these changes belongs to. `migrate` adds the rows."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(unique=True, max_length=64)
    added_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = "flag"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class FlagOverride(models.Model):
    """A value of a flag: for a user, for a plan, for a share of all users (`percent`, which is on),
    or else for everyone."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    flag = models.ForeignKey(
        FlagRecord, on_delete=models.CASCADE, db_index=False, related_name="overrides"
    )
    # Both are of apps above: Django finds them by their names.
    plan = models.ForeignKey("billing.Plan", on_delete=models.CASCADE, null=True, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+"
    )
    percent = models.PositiveSmallIntegerField(null=True)
    is_on = models.BooleanField()
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = "override"
        constraints = [
            models.CheckConstraint(
                condition=_SHARE | _NO_SHARE, name="flag_override_is_of_one_scope"
            ),
            models.UniqueConstraint(
                fields=["flag"],
                condition=Q(plan=None, user=None, percent=None),
                name="one_override_for_everyone",
            ),
            models.UniqueConstraint(
                fields=["flag"], condition=Q(percent__isnull=False), name="one_share_of_a_flag"
            ),
            models.UniqueConstraint(fields=["flag", "plan"], name="one_override_of_a_plan"),
            models.UniqueConstraint(fields=["flag", "user"], name="one_override_of_a_user"),
        ]

    def __str__(self) -> str:
        return f"{self.flag} {self.scope}"

    @property
    def scope(self) -> str:
        """Whom it is for, in words."""
        if self.user_id is not None:
            return f"for {self.user}"
        if self.plan_id is not None:
            return f"for the plan {self.plan_id}"
        return "for everyone" if self.percent is None else f"for {self.percent} % of users"
