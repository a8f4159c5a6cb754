"""The exports of accounts' data, and their limits."""

from datetime import timedelta

EXPORT_JOB = "userdata.export"
# How long an export can be downloaded.
EXPORT_SECONDS = 7 * 24 * 3600
# Exports of an account that may be begun in a day.
MAX_EXPORTS_PER_DAY = 3
EXPORT_PERIOD = timedelta(days=1)
# A deletion begins that long after it is requested: by then the requests that were under way have
# ended.
DELETION_GRACE = timedelta(minutes=2)
