"""The constraint of 0003, checked without a lock that calls wait for."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("catalog", "0003_cached_input")]

    operations = [ValidateConstraint("priceversion", "cached_input_is_no_dearer_than_input")]
