-- The partitions of billing_charge, one for each month of ids. Every lock on the whole table is short,
-- and is given up at once where somebody is in the way: calls wait behind it.

CREATE OR REPLACE FUNCTION charge_partition(p_month date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'billing_charge_' || to_char(p_month, 'YYYY_MM')
$$;

-- Add the partition of a month. What came before it and lies in the default partition is moved there.
-- False where it exists.
CREATE OR REPLACE FUNCTION add_charge_month(p_month date) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '500ms' AS $$
DECLARE v_first uuid := least_id_of(p_month);
        v_next uuid := least_id_of((p_month + interval '1 month')::date);
        v_name text := charge_partition(p_month);
BEGIN
    IF to_regclass(v_name) IS NOT NULL THEN RETURN false; END IF;
    LOCK TABLE billing_charge_default IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('CREATE TABLE %I (LIKE billing_charge INCLUDING DEFAULTS INCLUDING CONSTRAINTS'
                   ' INCLUDING INDEXES INCLUDING STORAGE) WITH (fillfactor = 80)', v_name);
    EXECUTE format('INSERT INTO %I SELECT * FROM billing_charge_default WHERE id >= $1 AND id < $2',
                   v_name) USING v_first, v_next;
    DELETE FROM billing_charge_default WHERE id >= v_first AND id < v_next;
    EXECUTE format('ALTER TABLE billing_charge ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   v_name, v_first, v_next);
    RETURN true;
END $$;

-- Let no row of a month change any more, nor any be added. Returns how many are in the way: held ones,
-- and those whose transaction is not noted yet; then nothing has happened. The lock waits for the
-- transactions that write to the table.
CREATE OR REPLACE FUNCTION freeze_charge_month(p_month date) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET lock_timeout = '500ms' AS $$
DECLARE v_name text := charge_partition(p_month); v_open bigint;
BEGIN
    EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', v_name);
    EXECUTE format($q$SELECT (SELECT count(*) FROM %1$I WHERE status = 'held')
                           + (SELECT count(*) FROM %1$I
                              WHERE status <> 'held' AND resolved_tx IS NULL)$q$, v_name)
    INTO v_open;
    IF v_open = 0 THEN
        EXECUTE format('CREATE OR REPLACE TRIGGER month_is_closed BEFORE INSERT OR UPDATE OR DELETE'
                       ' ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', v_name);
    END IF;
    RETURN v_open;
END $$;

-- Let a month that was frozen go on, unless it is closed. Where it is not frozen nothing is locked.
CREATE OR REPLACE FUNCTION thaw_charge_month(p_month date) RETURNS void
LANGUAGE plpgsql VOLATILE SET lock_timeout = '500ms' AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_trigger WHERE tgname = 'month_is_closed'
               AND tgrelid = charge_partition(p_month)::regclass)
       AND NOT EXISTS (SELECT FROM billing_chargemonth WHERE period = p_month) THEN
        EXECUTE format('DROP TRIGGER IF EXISTS month_is_closed ON %I', charge_partition(p_month));
    END IF;
END $$;

-- The totals of a month that differ from its rows.
CREATE OR REPLACE FUNCTION differing_totals(p_month date)
RETURNS TABLE (account_id uuid, month date, model_id varchar, kept bigint, counted bigint)
LANGUAGE plpgsql VOLATILE SET work_mem = '64MB' AS $$
BEGIN
    EXECUTE format(
        'CREATE TEMP TABLE checked_charge ON COMMIT DROP AS SELECT *, $1 AS period,'
        ' funding = ''customer'' OR free_window_start IS NOT NULL AS is_of_user FROM %I',
        charge_partition(p_month)) USING p_month;
    RETURN QUERY
    SELECT t.account_id, t.month, t.model_id, k.charges, s.charges
    FROM (
        (SELECT * FROM sums_of_checked()
         EXCEPT
         SELECT k.account_id, k.period, k.month, k.model_id, k.api_key_id, k.charges, k.requests,
                k.tokens_in, k.tokens_out, k.plan, k.balance, k.largest, k.least_cap, k.greatest_cap
         FROM billing_chargetotal k WHERE k.period = p_month)
        UNION ALL
        (SELECT k.account_id, k.period, k.month, k.model_id, k.api_key_id, k.charges, k.requests,
                k.tokens_in, k.tokens_out, k.plan, k.balance, k.largest, k.least_cap, k.greatest_cap
         FROM billing_chargetotal k WHERE k.period = p_month
         EXCEPT
         SELECT * FROM sums_of_checked())) t
    LEFT JOIN billing_chargetotal k
        ON (k.account_id, k.period, k.month, k.model_id) = (t.account_id, p_month, t.month, t.model_id)
       AND k.api_key_id IS NOT DISTINCT FROM t.api_key_id
    LEFT JOIN sums_of_checked() s
        ON (s.account_id, s.month, s.model_id) = (t.account_id, t.month, t.model_id)
       AND s.api_key_id IS NOT DISTINCT FROM t.api_key_id
    UNION ALL
    SELECT g.account_id, p_month, 'group ' || g.group_id, k.billed, g.billed
    FROM sums_of_checked_groups() g
    FULL JOIN (SELECT * FROM billing_grouptotal WHERE period = p_month) k USING (group_id)
    WHERE (g.billed, g.committed) IS DISTINCT FROM (k.billed, k.committed)
    LIMIT 20;
    DROP TABLE checked_charge;
END $$;

-- The default partition takes any id, but none of a dropped month: no check would count its charge.
CREATE OR REPLACE FUNCTION refuse_dropped_month() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF charge_is_dropped(NEW.id) THEN
        RAISE EXCEPTION 'The month of % is closed', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Not replaced while calls run: with the locks that this transaction has by now they might deadlock.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'month_is_dropped'
                   AND tgrelid = 'billing_charge_default'::regclass) THEN
        CREATE TRIGGER month_is_dropped BEFORE INSERT ON billing_charge_default
            FOR EACH ROW EXECUTE FUNCTION refuse_dropped_month();
    END IF;
END $$;

-- How many charges a month has.
CREATE OR REPLACE FUNCTION count_charge_month(p_month date) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE v_count bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %I', charge_partition(p_month)) INTO v_count;
    RETURN v_count;
END $$;

-- Drop the charges of a closed month, whose totals stand for them from now on. With a default partition
-- DETACH PARTITION CONCURRENTLY is not possible; this lock is held for some milliseconds.
CREATE OR REPLACE FUNCTION drop_charge_month(p_month date) RETURNS void
LANGUAGE plpgsql VOLATILE SET lock_timeout = '200ms' AS $$
BEGIN
    UPDATE billing_chargemonth SET dropped_at = clock_timestamp()
    WHERE period = p_month AND dropped_at IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The month % is not closed.', p_month USING ERRCODE = 'restrict_violation';
    END IF;
    EXECUTE format('ALTER TABLE billing_charge DETACH PARTITION %I', charge_partition(p_month));
    EXECUTE format('DROP TABLE %I', charge_partition(p_month));
END $$;
