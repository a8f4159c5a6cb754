"""Settings of a worker that soon notices that it takes no messages.

Those of other tests wait as long as in production: after an outage it takes time to be connected.
"""

from config.settings.test import *  # noqa: F403

CONSUMER_STALL_SECONDS = 6.0
