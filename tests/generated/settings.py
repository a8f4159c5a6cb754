"""Settings of the processes that generated requests reach: connectors lead to the simulator."""

import os

from integrations.connectors import providers
from tests.hurried_settings import *  # noqa: F403

CONNECTORS = providers.from_environ(os.environ)
