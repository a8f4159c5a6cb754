"""What must always be true of operations of providers."""

from billing.invariants import Invariant

INVARIANTS = (
    Invariant(
        "operation_and_job_end_together",
        "An operation that was begun has ended if, and only if, its job has.",
        """
        SELECT o.job_id, o.state, j.status
        FROM operations_operation o JOIN jobs_job j ON j.id = o.job_id
        WHERE o.state <> 'planned' AND (o.state = 'ended') <> (j.ended_at IS NOT NULL)""",
    ),
)
