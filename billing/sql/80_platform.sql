-- The account of the platform's own calls (accounts/services/platform_account.py).
CREATE OR REPLACE FUNCTION platform_account() RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT '00000000-0000-7000-8000-000000000001'::uuid
$$;

-- What the calls that the platform pays for users have cost it on this UTC day; those that run, at their
-- worst. Probes have a budget of their own.
--
-- enable_seqscan is off for the indexes of such charges: of a moment that is not a constant the planner
-- thinks that it leaves a third of the table.
-- In all, and of accounts whose address is not verified.
CREATE OR REPLACE FUNCTION platform_costs_today(OUT spent bigint, OUT of_unverified bigint)
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT coalesce(sum(c.cost), 0)::bigint,
           coalesce(sum(c.cost) FILTER (WHERE NOT u.email_verified), 0)::bigint
    FROM (
        SELECT account_id, sum(CASE status WHEN 'held' THEN worst_cost ELSE cost END) AS cost
        FROM billing_charge
        WHERE funding = 'platform' AND account_id <> platform_account() AND admitted_at >= (
            SELECT date_trunc('day', money_now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
        GROUP BY account_id
    ) c LEFT JOIN accounts_user u ON u.id = c.account_id
$$;

-- Of unverified accounts that share their mailbox, or the network they come from, with this one.
CREATE OR REPLACE FUNCTION unverified_costs_today(
    p_account uuid, OUT of_mailbox bigint, OUT of_network bigint)
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT coalesce(sum(c.cost) FILTER (WHERE u.mailbox = own.mailbox), 0)::bigint,
           coalesce(sum(c.cost) FILTER (WHERE u.signup_network = own.signup_network
                                          AND own.signup_network <> ''), 0)::bigint
    FROM accounts_user own
    JOIN accounts_user u ON NOT u.email_verified
        AND (u.mailbox = own.mailbox OR u.signup_network = own.signup_network
                                        AND own.signup_network <> '')
    CROSS JOIN LATERAL (
        SELECT sum(CASE status WHEN 'held' THEN worst_cost ELSE cost END) AS cost
        FROM billing_charge
        WHERE account_id = u.id AND funding = 'platform' AND admitted_at >= (
            SELECT date_trunc('day', money_now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
    ) c
    WHERE own.id = p_account
$$;

-- What the calls of one account that the platform pays have cost it on this UTC day.
CREATE OR REPLACE FUNCTION account_costs_today(p_account uuid) RETURNS bigint
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT coalesce(sum(CASE status WHEN 'held' THEN worst_cost ELSE cost END), 0)::bigint
    FROM billing_charge
    WHERE account_id = p_account AND funding = 'platform' AND admitted_at >= (
        SELECT date_trunc('day', money_now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
$$;
