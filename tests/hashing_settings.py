"""Settings of a process that hashes passwords as production does."""

from config.settings import base
from config.settings.test import *  # noqa: F403

PASSWORD_HASHERS = base.PASSWORD_HASHERS
