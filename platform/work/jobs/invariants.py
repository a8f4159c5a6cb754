"""What must always be true of charges that are held for jobs."""

from billing.invariants import Invariant, Reads

INVARIANTS = (
    Invariant(
        "lease_of_an_open_job",
        "A job has a lease only until it ends.",
        """
        SELECT l.owner_id, j.status FROM leases_lease l LEFT JOIN jobs_job j ON j.id = l.owner_id
        WHERE l.kind = 'job' AND (j.id IS NULL OR j.ended_at IS NOT NULL)""",
        Reads.FEW,
    ),
    Invariant(
        "nothing_held_for_ended_jobs",
        "No charge is held for more than two minutes for a job that has ended.",
        """
        SELECT c.id, c.account_id, j.status
        FROM billing_charge c JOIN jobs_job j ON j.id = c.owner_id
        WHERE c.status = 'held' AND j.ended_at < clock_timestamp() - interval '2 minutes'
          AND pg_postmaster_start_time() < clock_timestamp() - interval '2 minutes'""",
        Reads.FEW,
    ),
)
