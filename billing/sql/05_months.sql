-- The months of charges, and the transactions that change money.

-- The transaction that runs, as a number. Those that have ended are told apart by a pg_snapshot.
CREATE OR REPLACE FUNCTION current_tx() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT pg_current_xact_id()::text::bigint
$$;

-- The UTC month in which a UUIDv7 was made; of any other id the first month of all. Its first 48 bits are
-- the Unix time in milliseconds (RFC 9562, section 5.7). PostgreSQL has a function for it from 17 on.
CREATE OR REPLACE FUNCTION period_of(p_id uuid) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN substr(p_id::text, 15, 1) = '7' THEN
        date_trunc('month', to_timestamp(
            ('x' || replace(left(p_id::text, 13), '-', ''))::bit(48)::bigint / 1000.0
        ) AT TIME ZONE 'UTC')::date
    ELSE date '0001-01-01' END
$$;

-- The least UUIDv7 of a UTC month.
CREATE OR REPLACE FUNCTION least_id_of(p_month date) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM p_month) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Is the row of that charge gone, together with its month?
CREATE OR REPLACE FUNCTION charge_is_dropped(p_id uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM billing_chargemonth
                   WHERE period = period_of(p_id) AND dropped_at IS NOT NULL)
$$;
