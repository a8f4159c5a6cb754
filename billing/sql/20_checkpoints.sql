-- Charges whose owners may be gone, and the progress of running calls.

-- Has the owner of a held charge gone, or the charge outlived its deadline?
CREATE OR REPLACE FUNCTION charge_lapsed(p_owner uuid, p_deadline timestamptz, p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT lease_lapsed(p_owner, p_now) OR p_deadline < p_now AND startup_grace_is_over(p_now)
$$;

-- Held charges that nobody will settle any more, oldest first.
CREATE OR REPLACE FUNCTION lapsed_charges(p_limit int)
RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $$
    SELECT doubt_leases();

    SELECT c.id FROM billing_charge c, (SELECT money_now() AS now) clock
    WHERE c.status = 'held'
      AND (lease_given_up(c.owner_id, clock.now)
           OR c.deadline_at < clock.now AND startup_grace_is_over(clock.now))
    ORDER BY c.admitted_at, c.id LIMIT p_limit
$$;

-- Charges that are held for an owner for more than 15 s, and that it does not know (p_known): holds
-- whose reply it never got. It shall expire them.
CREATE OR REPLACE FUNCTION unknown_charges(p_owner uuid, p_known uuid[])
RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $$
    SELECT id FROM billing_charge
    WHERE status = 'held' AND owner_id = p_owner
      AND admitted_at < money_now() - interval '15 seconds'
      AND id <> ALL (p_known)
$$;

-- Begin a call on a charge that was held for a job (p_owner). The call has p_seconds from now on,
-- however long the job waited. False where the charge has ended or lapsed: then the call is not made.
CREATE OR REPLACE FUNCTION charge_begin(p_charge uuid, p_owner uuid, p_seconds int)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE t timestamptz := money_now();
BEGIN
    UPDATE billing_charge
    SET deadline_at = greatest(deadline_at, t + make_interval(secs => p_seconds))
    WHERE id = p_charge AND status = 'held' AND owner_id = p_owner
      AND NOT charge_lapsed(owner_id, deadline_at, t);
    RETURN FOUND;
END $$;

-- Save a running call's progress, unless more is saved already: appends and money_checkpoint overtake
-- each other. The caller has locked the charge, before any job or stream, and writes what came of the
-- call in the same transaction. p_checkpoint: a billing.types.Checkpoint.
CREATE OR REPLACE FUNCTION save_checkpoint(p_checkpoint json) RETURNS void
LANGUAGE sql VOLATILE AS $$
    UPDATE billing_charge c
    SET units = i.units, cost = i.cost,
        first_output_at = coalesce(c.first_output_at, money_now())
    FROM json_to_record(p_checkpoint) AS i(charge_id uuid, units jsonb, cost bigint)
    WHERE c.id = i.charge_id AND c.status = 'held' AND c.cost <= i.cost
$$;

-- Save the progress of running calls, unless more is saved already: a crash bills that and no more.
-- Never waits: a charge that is being resolved right now is skipped. p_owners: a process, and the
-- jobs that it runs. p_items: JSON array of billing.types.Checkpoint. Returns the charges that are no
-- longer theirs.
CREATE OR REPLACE FUNCTION money_checkpoint(p_owners uuid[], p_items json) RETURNS SETOF uuid
LANGUAGE sql VOLATILE SET plan_cache_mode = force_generic_plan AS $$
    UPDATE billing_charge c
    SET units = mine.units, cost = mine.cost,
        first_output_at = coalesce(c.first_output_at, money_now())
    FROM (SELECT i.*
          FROM json_to_recordset(p_items) AS i(charge_id uuid, units jsonb, cost bigint)
          JOIN billing_charge held ON held.id = i.charge_id
          WHERE held.status = 'held' AND held.owner_id = ANY (p_owners) AND held.cost <= i.cost
          ORDER BY held.id FOR UPDATE OF held SKIP LOCKED) mine
    WHERE c.id = mine.charge_id;

    SELECT id FROM billing_charge
    WHERE id = ANY (ARRAY(SELECT (i ->> 'charge_id')::uuid FROM json_array_elements(p_items) i))
      AND (status <> 'held' OR owner_id <> ALL (p_owners))
$$;
