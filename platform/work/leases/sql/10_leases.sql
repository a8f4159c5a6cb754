-- Leases: whether the owner of charges and jobs lives.

-- Has the server been up for a minute (setting platform.startup_grace)? Nothing counts as lapsed
-- before: after an outage every owner gets the time to renew its lease first.
CREATE OR REPLACE FUNCTION startup_grace_is_over(p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT pg_postmaster_start_time() < p_now - coalesce(
        nullif(current_setting('platform.startup_grace', true), ''), '60 seconds')::interval
$$;

-- Has an owner no lease, or one that has expired?
CREATE OR REPLACE FUNCTION lease_lapsed(p_owner uuid, p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM leases_lease WHERE owner_id = p_owner
                         AND (expires_at IS NULL OR expires_at > p_now))
       AND startup_grace_is_over(p_now)
$$;

-- The same for sweeps, which give an owner up only when it has not renewed its lease 8 seconds after
-- doubt_leases found it expired: two sweeps later. After a pause that nobody lived through (a frozen
-- server, a failover, a cut network) all leases have expired at once, and a sweep may come before
-- the first renewal.
CREATE OR REPLACE FUNCTION lease_given_up(p_owner uuid, p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (
            SELECT FROM leases_lease WHERE owner_id = p_owner
               AND (expires_at > p_now OR (doubted_at < p_now - interval '8 seconds') IS NOT TRUE))
       AND startup_grace_is_over(p_now)
$$;

-- Doubt the owners whose leases have expired. A lease that is being renewed is skipped.
CREATE OR REPLACE FUNCTION doubt_leases() RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE leases_lease SET doubted_at = money_now()
    WHERE owner_id IN (SELECT owner_id FROM leases_lease
                       WHERE expires_at <= money_now() AND doubted_at IS NULL
                       FOR NO KEY UPDATE SKIP LOCKED)
$$;

-- Renew a process's lease for 30 s.
CREATE OR REPLACE FUNCTION lease_renew(p_owner uuid, p_kind text)
RETURNS void LANGUAGE sql VOLATILE AS $$
    INSERT INTO leases_lease (owner_id, kind, expires_at)
    VALUES (p_owner, p_kind, money_now() + interval '30 seconds')
    ON CONFLICT (owner_id) DO UPDATE SET expires_at = excluded.expires_at, doubted_at = NULL
$$;

-- Give an owner a lease that lasts until it is ended.
CREATE OR REPLACE FUNCTION lease_grant(p_owner uuid, p_kind text)
RETURNS void LANGUAGE sql VOLATILE AS $$
    INSERT INTO leases_lease (owner_id, kind) VALUES (p_owner, p_kind) ON CONFLICT DO NOTHING
$$;

-- End a lease: what its owner holds has lapsed.
CREATE OR REPLACE FUNCTION lease_end(p_owner uuid) RETURNS void LANGUAGE sql VOLATILE AS $$
    DELETE FROM leases_lease WHERE owner_id = p_owner
$$;
