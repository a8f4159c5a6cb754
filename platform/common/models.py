"""When periodic work was last done."""

from django.db import models


class Sweep(models.Model):
    """The last run of a piece of periodic work that ended well: when, and how many seconds it took.
    `found` is the number of faults that it found; most look for none."""

    name = models.CharField(max_length=64, primary_key=True)
    succeeded_at = models.DateTimeField()
    seconds = models.FloatField()
    found = models.PositiveIntegerField(db_default=0)

    def __str__(self) -> str:
        return self.name
