"""Settings of the processes that tests start, unless a test names others: those of the suite, with
shorter pauses."""

from config.settings.test import *  # noqa: F403
from config.settings.test import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.hurried.HurriedConfig"]
