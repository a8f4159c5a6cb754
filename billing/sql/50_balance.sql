-- Move an account's balance other than by a charge: kind 'topup' (delta > 0) or 'adjust'.
-- The id makes it happen once: a repeated call answers 'already' and moves nothing.
-- outcome: 'done', 'already', 'conflict' (the id stands for something else), 'below_held' (would
-- leave less than open charges hold), 'unknown'.
CREATE OR REPLACE FUNCTION money_move(
    p_id uuid, p_account uuid, p_kind text, p_delta bigint, p_description text,
    OUT outcome text, OUT balance bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
DECLARE w billing_wallet; l billing_ledgerentry;
BEGIN
    SELECT * INTO w FROM billing_wallet WHERE account_id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN outcome := 'unknown'; RETURN; END IF;
    balance := w.balance;
    SELECT * INTO l FROM billing_ledgerentry WHERE id = p_id;
    IF FOUND THEN
        outcome := CASE WHEN (l.account_id, l.kind, l.delta) = (p_account, p_kind, p_delta)
                        THEN 'already' ELSE 'conflict' END;
        RETURN;
    END IF;
    IF w.balance + p_delta < w.held THEN outcome := 'below_held'; RETURN; END IF;
    balance := w.balance + p_delta;
    UPDATE billing_wallet SET balance = money_move.balance, seq = seq + 1
    WHERE account_id = p_account;
    INSERT INTO billing_ledgerentry
        (id, account_id, seq, kind, delta, balance_after, description, created_at)
    VALUES (p_id, p_account, w.seq + 1, p_kind, p_delta, balance, p_description, clock_timestamp());
    outcome := 'done';
END $$;

-- Put an account on another plan, from now on. This month's allowances take the new plan's size,
-- what was used stays used, and running charges keep what they hold.
CREATE OR REPLACE FUNCTION money_change_plan(p_account uuid, p_plan text)
RETURNS void LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
DECLARE v_month date;
BEGIN
    PERFORM FROM billing_wallet WHERE account_id = p_account FOR NO KEY UPDATE;
    v_month := date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date;
    UPDATE billing_subscription SET plan_id = p_plan, started_at = clock_timestamp()
    WHERE account_id = p_account AND plan_id <> p_plan;
    UPDATE billing_allowance a
    SET granted = g.granted, downgraded = a.used + a.held > g.granted
    FROM (SELECT mine.model_id, coalesce(pa.granted, 0) AS granted
          FROM billing_allowance mine
          LEFT JOIN billing_planallowance pa
                 ON pa.plan_id = p_plan AND pa.model_id = mine.model_id
          WHERE mine.account_id = p_account AND mine.month = v_month) g
    WHERE a.account_id = p_account AND a.model_id = g.model_id AND a.month = v_month;
END $$;
