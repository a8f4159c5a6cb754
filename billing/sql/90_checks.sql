-- The relations that invariants read (billing/invariants.py): temporary tables of one transaction and
-- one snapshot.
--
--   checked_account   the accounts that are checked
--   checked_charge    their charges: those that run, and those that are resolved. is_counted: the
--                     totals have it, if it is billed
--   checked_entry     entries of their ledgers
--   checked_refund    their refunds
--   checked_month     the months of these charges and refunds, by account
--   checked_total     what billed charges of these months add up to
--   checked_group     the same by group, and what its open charges hold
--
-- check_changes takes what changed since a snapshot, and check_accounts all that some accounts have.
-- The totals stand for what is not read: charges that an earlier pass has seen, or that are dropped.
-- They have all charges of closed months, whatever transactions these name: after a dump is restored on
-- another cluster these may be of the future.

-- Did a transaction end after the snapshot? Unknown where none is noted.
CREATE OR REPLACE FUNCTION is_after(p_tx bigint, p_snapshot pg_snapshot) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_tx >= pg_snapshot_xmin(p_snapshot)::text::bigint
       AND NOT pg_visible_in_snapshot(p_tx::text::xid8, p_snapshot)
$$;

-- The snapshot of the last pass; NULL where there was none on this cluster. Clusters that are copies of
-- one may have the same identifier: what they have not counted yet they have not passed.
CREATE OR REPLACE FUNCTION last_passed() RETURNS pg_snapshot LANGUAGE sql STABLE AS $$
    SELECT snapshot::pg_snapshot FROM billing_watermark
    WHERE cluster = (SELECT system_identifier FROM pg_control_system())
      AND pg_snapshot_xmax(snapshot::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
$$;

-- Billed charges among those that are checked.
CREATE OR REPLACE FUNCTION sums_of_checked()
RETURNS TABLE (account_id uuid, period date, month date, model_id varchar, api_key_id uuid,
               charges bigint, requests bigint, tokens_in bigint, tokens_out bigint,
               plan bigint, balance bigint, largest bigint, least_cap bigint, greatest_cap bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN QUERY
    SELECT c.account_id, c.period, c.month, c.model_id, c.api_key_id, count(*),
           count(*) FILTER (WHERE c.is_of_user),
           coalesce(sum((units ->> 'tokens_in')::bigint) FILTER (WHERE c.is_of_user), 0)::bigint,
           coalesce(sum((units ->> 'tokens_out')::bigint) FILTER (WHERE c.is_of_user), 0)::bigint,
           sum(charge_plan)::bigint, sum(charge_balance)::bigint,
           max(charge_plan + charge_balance),
           min(coalesce(cap_at_hold, -1)), max(coalesce(cap_at_hold, -1))
    FROM checked_charge c WHERE status IN ('settled', 'expired') GROUP BY 1, 2, 3, 4, 5;
END $$;

CREATE OR REPLACE FUNCTION sums_of_checked_groups()
RETURNS TABLE (group_id uuid, account_id uuid, period date, billed bigint, committed bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN QUERY
    SELECT c.group_id, c.account_id, c.period, sum(charge_plan + charge_balance)::bigint,
           sum(least(charge_plan + charge_balance, hold_plan + hold_balance))::bigint
    FROM checked_charge c
    WHERE status IN ('settled', 'expired') AND c.group_id IS NOT NULL GROUP BY 1, 2, 3;
END $$;

CREATE OR REPLACE FUNCTION advance_totals() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO billing_chargetotal AS t
        (account_id, period, month, model_id, api_key_id, charges, requests, tokens_in, tokens_out,
         plan, balance, largest, least_cap, greatest_cap)
    SELECT * FROM sums_of_checked()
    ON CONFLICT (account_id, month, period, model_id, api_key_id) DO UPDATE SET
        charges = t.charges + excluded.charges, requests = t.requests + excluded.requests,
        tokens_in = t.tokens_in + excluded.tokens_in,
        tokens_out = t.tokens_out + excluded.tokens_out,
        plan = t.plan + excluded.plan, balance = t.balance + excluded.balance,
        largest = greatest(t.largest, excluded.largest),
        least_cap = least(t.least_cap, excluded.least_cap),
        greatest_cap = greatest(t.greatest_cap, excluded.greatest_cap);
    INSERT INTO billing_grouptotal AS t (group_id, account_id, period, billed, committed)
    SELECT * FROM sums_of_checked_groups()
    ON CONFLICT (group_id, period) DO UPDATE SET
        billed = t.billed + excluded.billed, committed = t.committed + excluded.committed;
END $$;

-- What was resolved or moved by transactions that the snapshot does not see, and what runs. The totals
-- are advanced to now.
CREATE OR REPLACE FUNCTION check_changes(p_snapshot pg_snapshot) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE v_first bigint := pg_snapshot_xmin(p_snapshot)::text::bigint;
        -- What names a later one comes from another cluster, and was checked when that was noticed.
        v_last bigint := current_tx();
BEGIN
    CREATE TEMP TABLE checked_charge ON COMMIT DROP AS
    SELECT c.*, period_of(id) AS period, true AS is_counted,
           funding = 'customer' OR free_window_start IS NOT NULL AS is_of_user
    FROM billing_charge c
    WHERE status <> 'held' AND resolved_tx BETWEEN v_first AND v_last
      AND is_after(resolved_tx, p_snapshot)
      AND period_of(id) NOT IN (SELECT m.period FROM billing_chargemonth m)
    UNION ALL
    SELECT c.*, period_of(id), false, funding = 'customer' OR free_window_start IS NOT NULL
    FROM billing_charge c WHERE status = 'held';
    PERFORM advance_totals();

    CREATE TEMP TABLE checked_entry ON COMMIT DROP AS
    SELECT e.* FROM billing_ledgerentry e JOIN checked_charge c USING (id)
    WHERE e.kind = 'charge' AND c.status <> 'held'
    UNION ALL
    SELECT e.* FROM billing_ledgerentry e
    WHERE kind IN ('topup', 'adjust', 'refund') AND tx BETWEEN v_first AND v_last
      AND is_after(tx, p_snapshot)
    UNION ALL
    SELECT e.* FROM billing_ledgerentry e
    WHERE kind IN ('topup', 'adjust', 'refund') AND tx IS NULL;
    CREATE TEMP TABLE checked_refund ON COMMIT DROP AS
    SELECT * FROM billing_refund
    WHERE tx BETWEEN v_first AND v_last AND is_after(tx, p_snapshot)
    UNION ALL
    SELECT * FROM billing_refund WHERE tx IS NULL;
    CREATE TEMP TABLE checked_account ON COMMIT DROP AS
    SELECT account_id FROM checked_charge UNION SELECT account_id FROM checked_entry
    UNION SELECT account_id FROM checked_refund;
    CREATE TEMP TABLE checked_month ON COMMIT DROP AS
    SELECT account_id, month FROM checked_charge UNION SELECT account_id, month FROM checked_refund;
    ANALYZE checked_charge, checked_entry, checked_refund, checked_account, checked_month;

    CREATE TEMP TABLE checked_total ON COMMIT DROP AS
    SELECT t.* FROM billing_chargetotal t JOIN checked_month USING (account_id, month);
    CREATE TEMP TABLE checked_group ON COMMIT DROP AS
    SELECT id, coalesce(billed, 0) AS billed, coalesce(committed, 0) AS committed,
           coalesce(held, 0) AS held
    FROM (SELECT group_id AS id,
                 sum(hold_plan + hold_balance) FILTER (WHERE status = 'held') AS held
          FROM checked_charge WHERE group_id IS NOT NULL GROUP BY 1) g
    LEFT JOIN LATERAL (SELECT sum(billed) AS billed, sum(committed) AS committed
                       FROM billing_grouptotal t WHERE t.group_id = g.id) t ON true;
    ANALYZE checked_total, checked_group;
END $$;

-- All that these accounts have, or that all have (NULL). The snapshot is the one up to which the
-- totals count; NULL where there is none.
CREATE OR REPLACE FUNCTION check_accounts(p_accounts uuid[], p_snapshot pg_snapshot) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    CREATE TEMP TABLE checked_account ON COMMIT DROP AS
    SELECT account_id FROM billing_wallet
    WHERE p_accounts IS NULL OR account_id = ANY (p_accounts);
    ANALYZE checked_account;
    -- Else each of many checks might read whole tables.
    IF p_accounts IS NOT NULL THEN SET LOCAL enable_seqscan = off; END IF;
    CREATE TEMP TABLE checked_charge ON COMMIT DROP AS
    SELECT c.*, period_of(id) AS period,
           period_of(id) IN (SELECT m.period FROM billing_chargemonth m)
               OR coalesce(NOT is_after(resolved_tx, p_snapshot), false) AS is_counted,
           funding = 'customer' OR free_window_start IS NOT NULL AS is_of_user
    FROM billing_charge c JOIN checked_account USING (account_id);
    CREATE TEMP TABLE checked_entry ON COMMIT DROP AS
    SELECT e.* FROM billing_ledgerentry e JOIN checked_account USING (account_id);
    CREATE TEMP TABLE checked_refund ON COMMIT DROP AS
    SELECT r.* FROM billing_refund r JOIN checked_account USING (account_id);
    ANALYZE checked_charge, checked_entry, checked_refund;

    CREATE TEMP TABLE checked_total ON COMMIT DROP AS
    SELECT * FROM sums_of_checked()
    UNION ALL
    SELECT t.account_id, period, month, model_id, api_key_id, t.charges, requests, tokens_in,
           tokens_out, plan, balance, largest, least_cap, greatest_cap
    FROM billing_chargetotal t JOIN checked_account USING (account_id)
    JOIN billing_chargemonth m USING (period) WHERE dropped_at IS NOT NULL;
    CREATE TEMP TABLE checked_month ON COMMIT DROP AS
    SELECT account_id, month FROM checked_charge
    UNION SELECT account_id, month FROM checked_refund
    UNION SELECT account_id, month FROM checked_total
    UNION SELECT account_id, month FROM billing_allowance JOIN checked_account USING (account_id)
    UNION SELECT account_id, k.month FROM billing_keymonth k
          JOIN accounts_apikey a ON a.id = k.api_key_id JOIN checked_account USING (account_id)
    UNION SELECT account_id, date_trunc('month', day)::date FROM billing_usagedaily
          JOIN checked_account USING (account_id);
    CREATE TEMP TABLE checked_group ON COMMIT DROP AS
    SELECT id, coalesce(t.billed, 0) AS billed, coalesce(committed, 0) AS committed,
           coalesce(h.held, 0) AS held
    FROM (SELECT id FROM billing_chargegroup JOIN checked_account USING (account_id)
          UNION SELECT group_id FROM checked_charge WHERE group_id IS NOT NULL) g
    LEFT JOIN (SELECT group_id AS id, sum(billed) AS billed, sum(committed) AS committed
               FROM (SELECT group_id, billed, committed FROM sums_of_checked_groups()
                     UNION ALL
                     SELECT group_id, billed, committed FROM billing_grouptotal
                     JOIN checked_account USING (account_id)
                     JOIN billing_chargemonth USING (period) WHERE dropped_at IS NOT NULL) s
               GROUP BY 1) t USING (id)
    LEFT JOIN (SELECT group_id AS id, sum(hold_plan + hold_balance) AS held FROM checked_charge
               WHERE status = 'held' GROUP BY 1) h USING (id);
    ANALYZE checked_total, checked_month, checked_group;
END $$;

-- The end of a check, within a transaction that goes on.
CREATE OR REPLACE FUNCTION end_check() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    DROP TABLE checked_account, checked_charge, checked_entry, checked_refund, checked_month,
               checked_total, checked_group;
END $$;

-- Make the totals of all charges that are there; those of closed months stay. A row that names a
-- transaction of the future comes from another cluster.
CREATE OR REPLACE FUNCTION count_charges_anew() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE billing_charge SET resolved_tx = 0
    WHERE status <> 'held'
      AND resolved_tx >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
      AND period_of(id) NOT IN (SELECT period FROM billing_chargemonth);
    DELETE FROM billing_chargetotal WHERE period NOT IN (SELECT period FROM billing_chargemonth);
    DELETE FROM billing_grouptotal WHERE period NOT IN (SELECT period FROM billing_chargemonth);
    CREATE TEMP TABLE checked_charge ON COMMIT DROP AS
    SELECT c.*, period_of(id) AS period,
           funding = 'customer' OR free_window_start IS NOT NULL AS is_of_user
    FROM billing_charge c
    WHERE status <> 'held' AND resolved_tx IS NOT NULL
      AND period_of(id) NOT IN (SELECT m.period FROM billing_chargemonth m);
    PERFORM advance_totals();
    DROP TABLE checked_charge;
END $$;
