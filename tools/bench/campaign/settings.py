"""Settings of the processes of a life."""

import os

from bench.campaign.hurried import SWEEP_SECONDS
from config.settings.test import *  # noqa: F403
from config.settings.test import CELERY_BEAT_SCHEDULE, INSTALLED_APPS
from integrations.connectors.providers import from_environ

CONNECTORS = from_environ(os.environ)
INSTALLED_APPS = [*INSTALLED_APPS, "bench.campaign.hurried.HurriedConfig"]
# After an outage of Redis it takes a moment to be connected.
CONSUMER_STALL_SECONDS = 10.0
for entry in CELERY_BEAT_SCHEDULE.values():
    # What runs at a time of day is left alone.
    if isinstance(entry["schedule"], float) and entry["schedule"] < 3600:
        entry["schedule"] = SWEEP_SECONDS
