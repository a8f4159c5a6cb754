-- What the calls that the platform pays have cost it on this UTC day; those that run, at their worst.
--
-- enable_seqscan is off for the index `charge_by_platform`: of a moment that is not a constant the
-- planner thinks that it leaves a third of the table.
CREATE OR REPLACE FUNCTION platform_cost_today() RETURNS bigint
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT coalesce(sum(CASE status WHEN 'held' THEN worst_cost ELSE cost END), 0)::bigint
    FROM billing_charge
    WHERE funding = 'platform' AND admitted_at >= (
        SELECT date_trunc('day', money_now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
$$;
