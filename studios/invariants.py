"""What must always be true of generation jobs."""

from billing.invariants import Invariant

INVARIANTS = (
    Invariant(
        "generation_and_job_end_together",
        "A generation has ended if, and only if, its job has, and both tell the same end: of one"
        " that was deleted, that it was cancelled.",
        # A job is purged a week after its end, and its user may have deleted its generation.
        """
        SELECT id, g.status, g.ended_at, j.status AS job, j.ended_at AS job_ended_at
        FROM studios_generation g
        FULL JOIN (SELECT id, status, ended_at FROM jobs_job
                   WHERE kind IN ('studios.image', 'studios.video', 'studios.3d')) j USING (id)
        WHERE (g.id IS NOT NULL AND g.ended_at IS NULL) <> (j.id IS NOT NULL AND j.ended_at IS NULL)
           OR j.ended_at IS NOT NULL
              AND g.status <> CASE WHEN g.deleted_at IS NULL THEN j.status ELSE 'cancelled' END""",
    ),
    Invariant(
        "generation_status",
        "A generation has a final status if, and only if, it has ended; it runs only once its job"
        " has begun.",
        """
        SELECT g.id, g.status, g.started_at, g.ended_at, j.status AS job
        FROM studios_generation g LEFT JOIN jobs_job j ON j.id = g.id
        WHERE (g.status IN ('completed', 'failed', 'cancelled')) <> (g.ended_at IS NOT NULL)
           OR g.status = 'running' AND j.status IN ('queued', 'paused')
           OR g.status = 'running' AND g.started_at IS NULL""",
    ),
    Invariant(
        "generation_results",
        "A generation has results if, and only if, it is completed.",
        """
        SELECT g.id, g.status, count(o.id) AS results
        FROM studios_generation g LEFT JOIN studios_generationoutput o ON o.generation_id = g.id
        GROUP BY g.id HAVING (g.status = 'completed') <> (count(o.id) > 0)""",
    ),
    Invariant(
        "results_are_kept",
        "The files of results are kept, and belong to the account of their generation.",
        # A file that is purged leaves its result.
        """
        SELECT g.id, f.id AS file_id, f.is_kept, g.account_id, f.account_id AS owner_id
        FROM (SELECT generation_id, file_id FROM studios_generationoutput
              UNION ALL
              SELECT generation_id, thumbnail_id FROM studios_generationoutput) o
        JOIN studios_generation g ON g.id = o.generation_id
        JOIN files_storedfile f ON f.id = o.file_id
        WHERE NOT f.is_kept OR f.account_id <> g.account_id""",
    ),
    Invariant(
        "generation_and_charge_end_together",
        "A generation is completed if, and only if, it is billed, unless it was deleted.",
        """
        SELECT g.id, g.status, c.status AS charge
        FROM studios_generation g LEFT JOIN billing_charge c ON c.id = g.id
        WHERE g.ended_at IS NOT NULL AND g.deleted_at IS NULL
              AND (g.status = 'completed') <> (c.status = 'settled')
              AND NOT (c.id IS NULL AND charge_is_dropped(g.id))
           OR c.id IS NULL AND NOT charge_is_dropped(g.id)""",
    ),
    Invariant(
        "storage_use",
        "What is counted of an account's stored files is what they take.",
        """
        SELECT account_id, u.bytes AS counted, f.bytes
        FROM files_storageuse u
        FULL JOIN (SELECT account_id, sum(size) AS bytes FROM files_storedfile
                   WHERE is_kept AND taken_down_at IS NULL GROUP BY account_id) f USING (account_id)
        WHERE coalesce(u.bytes, 0) <> coalesce(f.bytes, 0)""",
    ),
)
