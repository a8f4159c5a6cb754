-- Has the owner of a held charge gone, or the charge outlived its deadline?
--
-- Nothing counts as lapsed while the server itself has been up for less than a minute (setting
-- platform.startup_grace): after an outage every owner gets the time to renew its lease first.
CREATE OR REPLACE FUNCTION charge_lapsed(p_owner uuid, p_deadline timestamptz, p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (p_deadline < p_now
            OR NOT EXISTS (SELECT FROM billing_ownerlease
                           WHERE owner_id = p_owner AND lease_until > p_now))
       AND pg_postmaster_start_time() < p_now - coalesce(
               nullif(current_setting('platform.startup_grace', true), ''), '60 seconds')::interval
$$;

-- Renew a process's lease for 30 s. Returns the charges it owns that are held for more than 15 s
-- and that it does not know (p_live): holds whose reply it never got. It shall expire them.
CREATE OR REPLACE FUNCTION lease_heartbeat(p_owner uuid, p_kind text, p_live uuid[])
RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $$
    INSERT INTO billing_ownerlease (owner_id, kind, lease_until)
    VALUES (p_owner, p_kind, money_now() + interval '30 seconds')
    ON CONFLICT (owner_id) DO UPDATE SET lease_until = excluded.lease_until, doubted_at = NULL;

    SELECT id FROM billing_charge
    WHERE status = 'held' AND owner_id = p_owner
      AND admitted_at < money_now() - interval '15 seconds'
      AND id <> ALL (p_live)
$$;

-- Doubt the owners whose leases have run out. A sweep gives an owner up when it has not renewed its
-- lease 8 seconds later, which is at the next sweep. After a pause that nobody lived through (a
-- frozen server, a failover, a cut network) all leases have run out at once, and a sweep may come
-- before the first heartbeat.
CREATE OR REPLACE FUNCTION doubt_leases() RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE billing_ownerlease SET doubted_at = money_now()
    WHERE lease_until <= money_now() AND doubted_at IS NULL
$$;

-- Held charges that nobody will settle any more, oldest first.
CREATE OR REPLACE FUNCTION lapsed_charges(p_limit int)
RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $$
    SELECT doubt_leases();

    SELECT c.id FROM billing_charge c
    LEFT JOIN billing_ownerlease l ON l.owner_id = c.owner_id
    WHERE c.status = 'held' AND charge_lapsed(c.owner_id, c.deadline_at, money_now())
      AND (c.deadline_at < money_now() OR l.owner_id IS NULL
           OR l.doubted_at < money_now() - interval '8 seconds')
    ORDER BY c.admitted_at, c.id LIMIT p_limit
$$;

-- Save a running call's progress, unless more is saved already: appends and money_checkpoint overtake
-- each other. The caller has locked the charge, before any job or stream, and writes what came of the
-- call in the same transaction.
CREATE OR REPLACE FUNCTION save_checkpoint(
    p_charge uuid, p_tokens_in int, p_tokens_out int, p_cost bigint)
RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE billing_charge
    SET tokens_in = p_tokens_in, tokens_out = p_tokens_out, cost = p_cost,
        first_output_at = coalesce(first_output_at, money_now())
    WHERE id = p_charge AND status = 'held' AND cost <= p_cost
$$;

-- Save the progress of running calls, unless more is saved already: a crash bills that and no more.
-- Never waits: a charge that is being resolved right now is skipped. Returns the charges that are no
-- longer this owner's to run.
CREATE OR REPLACE FUNCTION money_checkpoint(
    p_owner uuid, p_charges uuid[], p_tokens_in int[], p_tokens_out int[], p_costs bigint[])
RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $$
    UPDATE billing_charge c
    SET tokens_in = mine.tokens_in, tokens_out = mine.tokens_out, cost = mine.cost,
        first_output_at = coalesce(c.first_output_at, money_now())
    FROM (SELECT held.id, run.tokens_in, run.tokens_out, run.cost
          FROM unnest(p_charges, p_tokens_in, p_tokens_out, p_costs)
               AS run(id, tokens_in, tokens_out, cost)
          JOIN billing_charge held USING (id)
          WHERE held.status = 'held' AND held.owner_id = p_owner AND held.cost <= run.cost
          ORDER BY held.id FOR UPDATE OF held SKIP LOCKED) mine
    WHERE c.id = mine.id;

    SELECT id FROM billing_charge
    WHERE id = ANY (p_charges) AND (status <> 'held' OR owner_id <> p_owner)
$$;
