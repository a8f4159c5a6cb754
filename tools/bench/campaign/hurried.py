"""The service with shorter times: leases, sweeps and pauses of a fifth of their length or less.

So a life of some seconds has dead processes in it whose leases run out, and one that stood still
for longer than its lease. Nothing else differs from the settings of the tests.
"""

from datetime import timedelta
from types import ModuleType

from django.apps import AppConfig

from tests.hurried import replace_times

# What the SQL functions say, and what they say in a life.
IN_SQL = {
    "platform/work/leases/sql/10_leases.sql": {
        "interval '30 seconds'": "interval '5 seconds'",
        "interval '8 seconds'": "interval '1500 milliseconds'",
    },
    "billing/sql/20_checkpoints.sql": {"interval '15 seconds'": "interval '5 seconds'"},
}
# After a start of PostgreSQL: every owner renews its lease within.
STARTUP_GRACE = "4 seconds"
SWEEP_SECONDS = 1.5


class HurriedConfig(AppConfig):
    """An app without models, which shortens the times of the others."""

    name = "bench.campaign"
    label = "campaign"

    def ready(self) -> None:
        from ai.inference import runtime
        from ai.operations import transitions
        from ai.providers import runway
        from privacy.services import deletions
        from projects.services import applies, apply_settlement
        from work.jobs import lost
        from work.leases import keeper

        times: dict[ModuleType, dict[str, object]] = {
            keeper: {
                "LEASE_SECONDS": 5.0,
                "HEARTBEAT_SECONDS": 1.0,
                "MARGIN_SECONDS": 1.0,
                "RETRY_SECONDS": 0.3,
            },
            runtime: {"UNKNOWN_LOOK_SECONDS": 2.0},
            lost: {"PAUSE_SECONDS": 1.0},
            transitions: {
                "RETRY_PAUSES": (0.3, 0.5, 1.0, 1.0, 1.0, 2.0),
                "SHORTEST_PAUSE": 0.5,
                "LONGEST_PAUSE": 1.0,
            },
            applies: {"CLAIM": timedelta(seconds=8), "_MARGIN": timedelta(seconds=3)},
            apply_settlement: {"_ASKED_AGAIN": timedelta(seconds=1)},
            runway: {"_POLL_SECONDS": 1.0},
            deletions: {"DELETION_GRACE": timedelta(seconds=2)},
        }
        replace_times(times)
