-- Give back p_amount of what a charge billed, or all that is left of it (NULL): first what the balance
-- paid, then, at cost, what the plan paid. The latter goes to the allowance of the charge's month, or to
-- the balance once that month is over, because nothing can use it any more. The ledger has an entry of
-- each refund, of zero where the allowance got all of it. Usage reports and the months of keys go on to
-- say what the call billed.
-- The id makes it happen once: a repeated call answers 'already' and moves nothing.
-- outcome: 'done', 'already', 'conflict' (the id stands for something else), 'unknown' (no such charge),
-- 'running', 'nothing_left', 'too_much' (then plan_part and balance_part are what is left), 'too_large'
-- (a balance over 9 million USD).
CREATE OR REPLACE FUNCTION money_refund(
    p_id uuid, p_charge uuid, p_amount bigint, p_reason text,
    OUT outcome text, OUT plan_part bigint, OUT balance_part bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c billing_charge; w billing_wallet; r billing_refund; a billing_allowance; v_account uuid;
    v_amount bigint; v_to_allowance bigint; v_to_balance bigint;
BEGIN
    SELECT account_id INTO v_account FROM billing_charge WHERE id = p_charge;
    IF NOT FOUND THEN outcome := 'unknown'; RETURN; END IF;
    SELECT * INTO w FROM billing_wallet WHERE account_id = v_account FOR NO KEY UPDATE;
    SELECT * INTO c FROM billing_charge WHERE id = p_charge;

    SELECT * INTO r FROM billing_refund WHERE id = p_id;
    IF FOUND THEN
        outcome := CASE WHEN r.charge_id = p_charge
                         AND coalesce(p_amount, r.plan_part + r.balance_part)
                             = r.plan_part + r.balance_part
                        THEN 'already' ELSE 'conflict' END;
        plan_part := r.plan_part; balance_part := r.balance_part;
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM billing_ledgerentry WHERE id = p_id)
       OR EXISTS (SELECT FROM billing_charge WHERE id = p_id) THEN
        outcome := 'conflict'; RETURN;
    END IF;

    IF c.status = 'held' THEN outcome := 'running'; RETURN; END IF;
    SELECT c.charge_plan - coalesce(sum(f.plan_part), 0),
           c.charge_balance - coalesce(sum(f.balance_part), 0)
    INTO plan_part, balance_part FROM billing_refund f WHERE f.charge_id = p_charge;
    IF plan_part + balance_part = 0 THEN outcome := 'nothing_left'; RETURN; END IF;
    v_amount := coalesce(p_amount, plan_part + balance_part);
    IF v_amount > plan_part + balance_part THEN outcome := 'too_much'; RETURN; END IF;
    balance_part := least(v_amount, balance_part);
    plan_part := v_amount - balance_part;
    v_to_allowance := CASE WHEN c.month = money_month() THEN plan_part ELSE 0 END;
    v_to_balance := v_amount - v_to_allowance;
    IF v_to_balance > 9000000000000000 - w.balance THEN outcome := 'too_large'; RETURN; END IF;

    IF v_to_allowance > 0 THEN
        SELECT * INTO STRICT a FROM billing_allowance
        WHERE account_id = v_account AND model_id = c.model_id AND month = c.month;
        UPDATE billing_allowance SET used = used - v_to_allowance
        WHERE account_id = v_account AND model_id = c.model_id AND month = c.month;
    END IF;
    INSERT INTO billing_refund
        (id, account_id, charge_id, model_id, month, plan_part, balance_part, to_allowance,
         allowance_left, reason, created_at, tx)
    VALUES (p_id, v_account, p_charge, c.model_id, c.month, plan_part, balance_part, v_to_allowance,
            a.granted - a.used - a.held, p_reason, money_now(), current_tx());
    UPDATE billing_wallet SET balance = balance + v_to_balance, seq = seq + 1
    WHERE account_id = v_account;
    INSERT INTO billing_ledgerentry
        (id, account_id, seq, kind, delta, balance_after, description, created_at, tx)
    VALUES (p_id, v_account, w.seq + 1, 'refund', v_to_balance, w.balance + v_to_balance,
            p_reason, money_now(), current_tx());
    outcome := 'done';
END $$;
