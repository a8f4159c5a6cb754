-- Resolve a held charge, at most once.
--
--   settled   the call ended; p_cost and the token counts are what it used
--   expired   nobody settled it: bills the last checkpoint, or releases it if there was no output
--   released  nothing was produced; nothing is billed
--
-- p_failure is a billing.types.Failure: why the call did not end well. A charge that expires is given
-- one here.
--
-- The plan pays first, at cost, as far as its allowance goes now; the balance pays twice the rest.
-- A cost above the hold takes free funds of this account only, never another hold's; what is still
-- missing is written off as shortfall.
--
-- enable_seqscan is off because every row here is found by its key: a plan that was made and kept
-- while a table was still empty would read all of it for ever after.
--
-- outcome: 'resolved', 'already' (moved nothing), or 'unknown'. The other values are the charge's.
DROP FUNCTION IF EXISTS money_resolve(uuid, text, bigint, int, int, int, int, int);
DROP FUNCTION IF EXISTS money_resolve(uuid, text, bigint, int, int, int, int, int, int);
CREATE OR REPLACE FUNCTION money_resolve(
    p_charge uuid, p_status text, p_cost bigint DEFAULT 0,
    p_tokens_in int DEFAULT 0, p_tokens_out int DEFAULT 0,
    p_cached int DEFAULT 0, p_reasoning int DEFAULT 0, p_images int DEFAULT 0,
    p_seconds int DEFAULT 0, p_failure jsonb DEFAULT NULL,
    OUT outcome text, OUT status text, OUT cost bigint,
    OUT charge_plan bigint, OUT charge_balance bigint, OUT shortfall bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
DECLARE
    c billing_charge; w billing_wallet; a billing_allowance;
    v_account uuid; t timestamptz; room bigint;
BEGIN
    SELECT account_id INTO v_account FROM billing_charge WHERE id = p_charge;
    IF NOT FOUND THEN outcome := 'unknown'; RETURN; END IF;
    SELECT * INTO w FROM billing_wallet WHERE account_id = v_account FOR NO KEY UPDATE;
    SELECT * INTO c FROM billing_charge WHERE id = p_charge FOR UPDATE;
    IF c.status <> 'held' THEN
        outcome := 'already'; status := c.status; cost := c.cost;
        charge_plan := c.charge_plan; charge_balance := c.charge_balance; shortfall := c.shortfall;
        RETURN;
    END IF;
    t := money_now();

    IF p_status = 'expired' THEN
        p_failure := coalesce(p_failure, '{"code": "interrupted",
            "message": "Nobody ended the call: its process has died, or its time was over."}');
    END IF;
    IF p_status = 'expired' AND c.first_output_at IS NOT NULL THEN
        p_cost := c.cost; p_tokens_in := c.tokens_in; p_tokens_out := c.tokens_out;
    ELSIF p_status <> 'settled' THEN
        p_status := 'released'; p_cost := 0; p_tokens_in := 0; p_tokens_out := 0;
    END IF;

    outcome := 'resolved'; status := p_status; cost := p_cost;
    charge_plan := 0; charge_balance := 0; shortfall := 0;

    IF c.funding = 'customer' THEN
        SELECT * INTO a FROM billing_allowance
        WHERE account_id = v_account AND model_id = c.model_id AND month = c.month;
        IF FOUND THEN
            room := greatest(c.hold_plan, a.granted - a.used - (a.held - c.hold_plan));
            charge_plan := least(p_cost, room);
            UPDATE billing_allowance
            SET held = held - c.hold_plan, used = used + money_resolve.charge_plan
            WHERE account_id = v_account AND model_id = c.model_id AND month = c.month;
        END IF;
        charge_balance := least(2 * (p_cost - charge_plan), c.hold_balance + w.balance - w.held);
        shortfall := 2 * (p_cost - charge_plan) - charge_balance;
    END IF;

    UPDATE billing_wallet
    SET held = held - c.hold_balance, balance = balance - money_resolve.charge_balance,
        seq = seq + (money_resolve.charge_balance > 0)::int, open_charges = open_charges - 1
    WHERE account_id = v_account;
    IF charge_balance > 0 THEN
        INSERT INTO billing_ledgerentry
            (id, account_id, seq, kind, delta, balance_after, description, created_at)
        VALUES (c.id, v_account, w.seq + 1, 'charge', -charge_balance,
                w.balance - charge_balance, c.model_id, t);
    END IF;
    IF c.api_key_id IS NOT NULL THEN
        UPDATE billing_keymonth
        SET held = held - c.hold_plan - c.hold_balance,
            billed = billed + money_resolve.charge_plan + money_resolve.charge_balance,
            requests = requests + (p_status <> 'released')::int
        WHERE api_key_id = c.api_key_id AND month = c.month;
    END IF;
    IF c.group_id IS NOT NULL THEN
        UPDATE billing_chargegroup
        SET held = held - c.hold_plan - c.hold_balance,
            billed = billed + money_resolve.charge_plan + money_resolve.charge_balance
        WHERE id = c.group_id;
    END IF;
    UPDATE billing_charge ch
    SET status = p_status, cost = p_cost, tokens_in = p_tokens_in, tokens_out = p_tokens_out,
        cached_tokens = p_cached, reasoning_tokens = p_reasoning, images = p_images,
        seconds = p_seconds,
        charge_plan = money_resolve.charge_plan, charge_balance = money_resolve.charge_balance,
        shortfall = money_resolve.shortfall, failure = p_failure, resolved_at = t,
        first_output_at = CASE p_status WHEN 'released' THEN NULL
                                        ELSE coalesce(ch.first_output_at, t) END
    WHERE ch.id = p_charge;

    IF p_status = 'released' THEN
        UPDATE billing_freewindow SET used = used - 1
        WHERE account_id = v_account AND model_id = c.model_id
          AND window_start = c.free_window_start AND used > 0;
    ELSIF c.funding = 'customer' OR c.free_window_start IS NOT NULL THEN
        -- What the platform calls for itself, such as a title, is nobody's usage.
        INSERT INTO billing_usagedaily AS u
            (account_id, api_key_id, model_id, day, requests, tokens_in, tokens_out, billed)
        VALUES (v_account, c.api_key_id, c.model_id, (c.admitted_at AT TIME ZONE 'UTC')::date,
                1, p_tokens_in, p_tokens_out, charge_plan + charge_balance)
        ON CONFLICT (account_id, day, api_key_id, model_id) DO UPDATE
        SET requests = u.requests + 1, tokens_in = u.tokens_in + excluded.tokens_in,
            tokens_out = u.tokens_out + excluded.tokens_out, billed = u.billed + excluded.billed;
    END IF;
END $$;
