-- The time by which leases expire and money moves: now, or the moment that this session has set (platform.clock).
--
-- Nothing that serves requests sets it. Demo histories and tests do, so that the past and the turn of
-- a month go through the same verbs as everything else.
CREATE OR REPLACE FUNCTION money_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(nullif(current_setting('platform.clock', true), '')::timestamptz,
                    clock_timestamp())
$$;

-- The UTC month that it falls into, by its first day.
CREATE OR REPLACE FUNCTION money_month() RETURNS date LANGUAGE sql VOLATILE AS $$
    SELECT date_trunc('month', money_now() AT TIME ZONE 'UTC')::date
$$;
