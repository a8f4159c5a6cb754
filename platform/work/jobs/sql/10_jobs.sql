-- Jobs: claims, ownership, and the events that running jobs write.
--
-- A job is kept by the lease of the process that claimed it (platform/work/leases/sql/10_leases.sql). `attempt` is
-- the fence: each claim increments it, and every write for a job names it.

-- Claim a waiting job of a kind that the claiming process knows. No row: it cannot be claimed.
CREATE OR REPLACE FUNCTION job_claim(p_job uuid, p_kinds text[], p_owner uuid)
RETURNS TABLE (id uuid, attempt int, kind text, account_id uuid, signal text)
LANGUAGE sql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
    UPDATE jobs_job j
    SET status = 'running', attempt = j.attempt + 1, appends = 0, owner_id = p_owner,
        started_at = clock_timestamp()
    WHERE j.id = p_job AND j.status = 'queued' AND j.kind = ANY (p_kinds)
    RETURNING j.id, j.attempt, j.kind, j.account_id, j.signal
$$;

-- Claim jobs that have waited for so long, the oldest first: their messages went astray, or nobody
-- had room for them.
CREATE OR REPLACE FUNCTION job_claim_waiting(
    p_queues text[], p_kinds text[], p_owner uuid, p_older_than interval, p_limit int)
RETURNS TABLE (id uuid, attempt int, kind text, account_id uuid, signal text)
LANGUAGE sql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
    -- Found once: a subquery in FROM may be asked again for each row, and each time skips the rows
    -- that it has claimed already, so that more would be claimed than there is room for.
    WITH waiting AS MATERIALIZED (
        SELECT w.id FROM jobs_job w
        WHERE w.status = 'queued' AND w.queue = ANY (p_queues) AND w.kind = ANY (p_kinds)
          AND w.queued_at < clock_timestamp() - p_older_than
        ORDER BY w.queued_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
    UPDATE jobs_job j
    SET status = 'running', attempt = j.attempt + 1, appends = 0, owner_id = p_owner,
        started_at = clock_timestamp()
    FROM waiting WHERE j.id = waiting.id
    RETURNING j.id, j.attempt, j.kind, j.account_id, j.signal
$$;

-- Claim scheduled jobs that are due, the longest due first: at most p_limit, and of each provider so
-- many that all processes together claim at most p_per_second of its jobs in a second.
CREATE OR REPLACE FUNCTION job_claim_due(
    p_queues text[], p_kinds text[], p_owner uuid, p_limit int, p_per_second int)
RETURNS TABLE (id uuid, attempt int, kind text, account_id uuid, signal text)
LANGUAGE sql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
    -- One process after the other: each counts what those before it have claimed.
    SELECT pg_advisory_xact_lock(hashtext('job_claim_due'));

    WITH asked AS MATERIALIZED (
        SELECT DISTINCT w.provider FROM jobs_job w
        WHERE w.status = 'scheduled' AND w.queue = ANY (p_queues) AND w.kind = ANY (p_kinds)
          AND w.due_at <= clock_timestamp()),
    room AS MATERIALIZED (
        SELECT a.provider, CASE WHEN a.provider = '' THEN p_limit ELSE greatest(0, p_per_second - (
            SELECT count(*)::int FROM jobs_job c
            WHERE c.provider = a.provider AND c.provider <> '' AND c.attempt > 1
              AND c.started_at > clock_timestamp() - interval '1 second')) END AS places
        FROM asked a),
    due AS MATERIALIZED (
        SELECT d.id FROM room r CROSS JOIN LATERAL (
            SELECT w.id, w.due_at FROM jobs_job w
            WHERE w.status = 'scheduled' AND w.queue = ANY (p_queues) AND w.kind = ANY (p_kinds)
              AND w.due_at <= clock_timestamp() AND w.provider = r.provider
            ORDER BY w.due_at LIMIT least(r.places, p_limit) FOR UPDATE SKIP LOCKED) d
        ORDER BY d.due_at LIMIT p_limit)
    UPDATE jobs_job j
    SET status = 'running', attempt = j.attempt + 1, appends = 0, owner_id = p_owner,
        started_at = clock_timestamp()
    FROM due WHERE j.id = due.id
    RETURNING j.id, j.attempt, j.kind, j.account_id, j.signal
$$;

-- Let a running job continue in so many seconds, in any process. False where it does not run under
-- this attempt.
CREATE OR REPLACE FUNCTION job_schedule(p_job uuid, p_attempt int, p_seconds float)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
BEGIN
    UPDATE jobs_job
    SET status = 'scheduled', owner_id = NULL, losses = 0,
        due_at = clock_timestamp() + make_interval(secs => p_seconds)
    WHERE id = p_job AND attempt = p_attempt AND status = 'running';
    RETURN FOUND;
END $$;

-- Let jobs wait again that were claimed for a process so long ago, and that it does not know
-- (p_known): it never got the reply to its claim, so nothing has been done for them.
CREATE OR REPLACE FUNCTION job_put_back(p_owner uuid, p_known uuid[], p_older_than interval)
RETURNS SETOF uuid LANGUAGE sql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
    UPDATE jobs_job
    SET status = CASE WHEN due_at IS NULL THEN 'queued' ELSE 'scheduled' END,
        owner_id = NULL, started_at = NULL
    WHERE status = 'running' AND owner_id = p_owner AND id <> ALL (p_known)
      AND started_at < clock_timestamp() - p_older_than
    RETURNING id
$$;

-- Jobs of kinds that begin running (p_kinds), which began so long ago in a process that does not know
-- them (p_known): it never got the reply to its commit.
CREATE OR REPLACE FUNCTION job_unknown(
    p_owner uuid, p_kinds text[], p_known uuid[], p_older_than interval)
RETURNS TABLE (id uuid, attempt int, kind text, account_id uuid)
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT j.id, j.attempt, j.kind, j.account_id FROM jobs_job j
    WHERE j.status = 'running' AND j.owner_id = p_owner AND j.kind = ANY (p_kinds)
      AND j.id <> ALL (p_known) AND j.started_at < clock_timestamp() - p_older_than
$$;

-- What running jobs have to hear: their signals, that they do not run any more under that attempt, and
-- the number of the newest message in the inbox that they listen to (NULL: none), where it is above the
-- one they know. Jobs with none of these are left out.
CREATE OR REPLACE FUNCTION job_notices(
    p_jobs uuid[], p_attempts int[], p_inboxes uuid[], p_known int[])
RETURNS TABLE (id uuid, signal text, lost boolean, newest_message int)
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT mine.id, coalesce(j.signal, ''), j.id IS NULL, coalesce(i.last_number, 0)
    FROM unnest(p_jobs, p_attempts, p_inboxes, p_known) AS mine(id, attempt, inbox, known)
    LEFT JOIN jobs_job j
        ON j.id = mine.id AND j.attempt = mine.attempt AND j.status = 'running'
    LEFT JOIN events_inbox i ON i.stream_id = mine.inbox
    WHERE j.id IS NULL OR j.signal <> '' OR i.last_number > mine.known
$$;

-- Write events for running jobs. p_items is an array of {"job", "attempt", "number", "stream",
-- "events", "checkpoint"}; `number` counts what an attempt writes, so that an item that is sent again
-- is written once. A checkpoint, a billing.types.Checkpoint or null, is the cost of the call when it
-- produced these events: text that was shown is billed, even if the process dies.
-- Returns for each, in order, whether it is written; if not, its job is lost, or its stream is deleted.
-- NULL where another transaction has locked the charge, the job or the stream: the item may be sent
-- again.
--
-- It waits for no row, so that a locked stream delays no other. The charge comes first, as in the
-- transaction that ends it together with the job.
CREATE OR REPLACE FUNCTION job_append(p_items json) RETURNS SETOF boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE v_item record; v_is_written boolean[] := '{}';
BEGIN
    FOR v_item IN
        SELECT i.place, (i.body->>'job')::uuid AS job, (i.body->>'attempt')::int AS attempt,
               (i.body->>'number')::int AS number, (i.body->>'stream')::uuid AS stream,
               i.body->'events' AS events, (i.body->'checkpoint'->>'charge_id')::uuid AS charge,
               i.body->'checkpoint' AS checkpoint
        FROM json_array_elements(p_items) WITH ORDINALITY AS i(body, place)
        ORDER BY i.place
    LOOP
        v_is_written[v_item.place] := NULL;
        PERFORM FROM billing_charge WHERE id = v_item.charge FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND AND EXISTS (SELECT FROM billing_charge WHERE id = v_item.charge);
        PERFORM FROM jobs_job
        WHERE id = v_item.job AND attempt = v_item.attempt AND status = 'running'
        FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            PERFORM FROM jobs_job
            WHERE id = v_item.job AND attempt = v_item.attempt AND status = 'running';
            IF NOT FOUND THEN v_is_written[v_item.place] := false; END IF;
            CONTINUE;
        END IF;
        PERFORM FROM events_stream WHERE id = v_item.stream FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            PERFORM FROM events_stream WHERE id = v_item.stream;
            IF NOT FOUND THEN v_is_written[v_item.place] := false; END IF;
            CONTINUE;
        END IF;
        UPDATE jobs_job SET appends = v_item.number
        WHERE id = v_item.job AND appends < v_item.number;
        IF FOUND THEN
            PERFORM event_append(v_item.stream, v_item.events);
            IF v_item.charge IS NOT NULL THEN
                PERFORM save_checkpoint(v_item.checkpoint);
            END IF;
        END IF;
        v_is_written[v_item.place] := true;
    END LOOP;
    RETURN QUERY SELECT unnest(v_is_written);
END $$;

-- The same for a single item, which waits for its rows, in the common order.
CREATE OR REPLACE FUNCTION job_append_alone(p_items json) RETURNS SETOF boolean
LANGUAGE sql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
    SELECT FROM billing_charge WHERE id = (p_items->0->'checkpoint'->>'charge_id')::uuid
    FOR NO KEY UPDATE;

    SELECT FROM jobs_job WHERE id = (p_items->0->>'job')::uuid FOR NO KEY UPDATE;

    SELECT FROM events_stream WHERE id = (p_items->0->>'stream')::uuid FOR NO KEY UPDATE;

    SELECT job_append(p_items)
$$;

-- Running jobs whose process has been given up.
CREATE OR REPLACE FUNCTION lapsed_jobs(p_limit int)
RETURNS TABLE (id uuid, kind text, attempt int) LANGUAGE sql VOLATILE AS $$
    SELECT doubt_leases();

    SELECT j.id, j.kind, j.attempt FROM jobs_job j
    WHERE j.status = 'running' AND lease_given_up(j.owner_id, money_now())
    ORDER BY j.id LIMIT p_limit
$$;

-- A job that charges are held for has a lease (lease_grant), which ends with the job, however that ends.
CREATE OR REPLACE FUNCTION end_lease_of_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM leases_lease WHERE owner_id = OLD.id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER end_lease AFTER UPDATE OF ended_at ON jobs_job
    FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
    EXECUTE FUNCTION end_lease_of_job();
CREATE OR REPLACE TRIGGER end_lease_of_deleted AFTER DELETE ON jobs_job
    FOR EACH ROW WHEN (OLD.ended_at IS NULL) EXECUTE FUNCTION end_lease_of_job();
