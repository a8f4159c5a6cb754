"""State machines over the database.

A life is one transaction, which is rolled back at its end: what happens at the same moment is for
other tests. LIVES=1000 in the environment (and `--timeout=0`) lives through that many.
"""

import os
from contextlib import ExitStack

from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


class RolledBackLife(RuleBasedStateMachine):
    """What a life does is checked at once, as if it were committed, and is gone at its end."""

    def __init__(self) -> None:
        super().__init__()
        self._rollback = ExitStack()
        self._rollback.enter_context(transaction.atomic())
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._rollback.close()


def live_through(life: type[RolledBackLife], *, lives: int, steps: int) -> None:
    """Live through so many lives of so many steps."""
    run_state_machine_as_test(
        life,
        settings=settings(
            max_examples=int(os.environ.get("LIVES", lives)),
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
