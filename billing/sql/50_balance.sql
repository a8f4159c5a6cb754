-- Move an account's balance other than by a charge: kind 'topup' (delta > 0) or 'adjust'.
-- The id makes it happen once: a repeated call answers 'already' and moves nothing.
-- outcome: 'done', 'already', 'conflict' (the id stands for something else), 'below_held' (would
-- leave less than open charges hold), 'too_large' (over 9 million USD, beyond which a JSON number is
-- not exact to the nano-dollar), 'unknown'.
CREATE OR REPLACE FUNCTION money_move(
    p_id uuid, p_account uuid, p_kind text, p_delta bigint, p_description text,
    OUT outcome text, OUT balance bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s'
SET plan_cache_mode = force_generic_plan AS $$
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
    -- A charge will be entered under its own id.
    IF EXISTS (SELECT FROM billing_charge WHERE id = p_id) THEN
        outcome := 'conflict'; RETURN;
    END IF;
    IF w.balance + p_delta < w.held THEN outcome := 'below_held'; RETURN; END IF;
    IF p_delta > 9000000000000000 - w.balance THEN outcome := 'too_large'; RETURN; END IF;
    balance := w.balance + p_delta;
    UPDATE billing_wallet SET balance = money_move.balance, seq = seq + 1
    WHERE account_id = p_account;
    INSERT INTO billing_ledgerentry
        (id, account_id, seq, kind, delta, balance_after, description, created_at, tx)
    VALUES (p_id, p_account, w.seq + 1, p_kind, p_delta, balance, p_description, money_now(),
            current_tx());
    outcome := 'done';
END $$;

-- The same for what a client called by a name of its own (the Idempotency-Key of the HTTP interface):
-- whoever comes second within 24 hours moves nothing and gets the first one's entry.
-- outcome: money_move's, or 'idempotency_mismatch'; entry: the id in the ledger.
CREATE OR REPLACE FUNCTION money_move_idempotently(
    p_route text, p_idempotency_key text, p_digest bytea,
    p_id uuid, p_account uuid, p_kind text, p_delta bigint, p_description text,
    OUT outcome text, OUT entry uuid)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
DECLARE o billing_idempotencykey;
BEGIN
    PERFORM FROM billing_wallet WHERE account_id = p_account FOR NO KEY UPDATE;
    SELECT * INTO o FROM find_idempotency_key(p_account, p_route, p_idempotency_key);
    IF FOUND THEN
        outcome := CASE o.digest WHEN p_digest THEN 'already' ELSE 'idempotency_mismatch' END;
        entry := o.charge_id;
        RETURN;
    END IF;
    SELECT m.outcome INTO outcome
    FROM money_move(p_id, p_account, p_kind, p_delta, p_description) m;
    entry := p_id;
    IF outcome = 'done' THEN
        PERFORM store_idempotency_key(p_account, p_route, p_idempotency_key, p_digest, p_id);
    END IF;
END $$;

-- Put an account on another plan, from now on; this month's allowances take the new plan's size.
-- outcome: 'done', 'same' (it is on that plan), 'unknown' (account or plan), or, unless p_forced,
-- 'exceeded': more of the model that is named was used this month than the new plan grants of it;
-- 'in_flight': not yet, but running calls hold so much of it that it may become more.
CREATE OR REPLACE FUNCTION money_change_plan(
    p_account uuid, p_plan text, p_forced boolean, OUT outcome text, OUT model text)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
DECLARE v_plan text;
BEGIN
    PERFORM FROM billing_wallet WHERE account_id = p_account FOR NO KEY UPDATE;
    SELECT plan_id INTO v_plan FROM billing_subscription WHERE account_id = p_account;
    IF NOT FOUND OR NOT EXISTS (SELECT FROM billing_plan WHERE key = p_plan) THEN
        outcome := 'unknown'; RETURN;
    END IF;
    IF v_plan = p_plan THEN outcome := 'same'; RETURN; END IF;
    IF NOT p_forced THEN
        SELECT a.model_id, CASE WHEN g.granted < least(a.granted, a.used) THEN 'exceeded'
                                ELSE 'in_flight' END
        INTO model, outcome FROM billing_allowance a,
             LATERAL (SELECT coalesce(granted_allowance(p_account, p_plan, a.model_id), 0)) g(granted)
        WHERE a.account_id = p_account AND a.month = money_month()
          AND g.granted < least(a.granted, a.used + a.held)
        ORDER BY g.granted < least(a.granted, a.used) DESC, a.used + a.held - g.granted DESC LIMIT 1;
        IF FOUND THEN RETURN; END IF;
    END IF;
    UPDATE billing_subscription SET plan_id = p_plan, started_at = money_now()
    WHERE account_id = p_account;
    PERFORM regrant_allowances(p_account);
    outcome := 'done';
END $$;

-- The same by the customer's own hand: never to or from a plan that is agreed by contract. Where the
-- client called it by a name (p_idempotency_key, else NULL), whoever comes second within 24 hours changes nothing,
-- whatever the plan is by now.
-- outcome: money_change_plan's, 'by_contract', 'already', or 'idempotency_mismatch'; month: the one in
-- which the plan was changed, be it now or before.
CREATE OR REPLACE FUNCTION money_upgrade(
    p_route text, p_idempotency_key text, p_digest bytea, p_account uuid, p_plan text,
    OUT outcome text, OUT model text, OUT month date)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
DECLARE o billing_idempotencykey;
BEGIN
    PERFORM FROM billing_wallet WHERE account_id = p_account FOR NO KEY UPDATE;
    SELECT * INTO o FROM find_idempotency_key(p_account, p_route, p_idempotency_key);
    IF FOUND THEN
        outcome := CASE o.digest WHEN p_digest THEN 'already' ELSE 'idempotency_mismatch' END;
        month := date_trunc('month', o.created_at AT TIME ZONE 'UTC')::date;
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM billing_subscription s
               JOIN billing_plan mine ON mine.key = s.plan_id
               JOIN billing_plan wanted ON wanted.key = p_plan AND wanted.key <> mine.key
               WHERE s.account_id = p_account AND (mine.price IS NULL OR wanted.price IS NULL)) THEN
        outcome := 'by_contract'; RETURN;
    END IF;
    SELECT c.outcome, c.model INTO outcome, model
    FROM money_change_plan(p_account, p_plan, false) c;
    month := money_month();
    IF outcome = 'done' AND p_idempotency_key IS NOT NULL THEN
        PERFORM store_idempotency_key(p_account, p_route, p_idempotency_key, p_digest, gen_random_uuid());
    END IF;
END $$;

-- Agree with an account on what it is granted of a model each month, or on nothing (NULL). It counts
-- on a plan whose price is agreed by contract, from now on.
CREATE OR REPLACE FUNCTION money_set_contract(p_account uuid, p_model text, p_granted bigint)
RETURNS void LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
BEGIN
    PERFORM FROM billing_wallet WHERE account_id = p_account FOR NO KEY UPDATE;
    IF p_granted IS NULL THEN
        DELETE FROM billing_contractallowance WHERE account_id = p_account AND model_id = p_model;
    ELSE
        INSERT INTO billing_contractallowance (account_id, model_id, granted)
        VALUES (p_account, p_model, p_granted)
        ON CONFLICT (account_id, model_id) DO UPDATE SET granted = excluded.granted;
    END IF;
    PERFORM regrant_allowances(p_account);
END $$;
