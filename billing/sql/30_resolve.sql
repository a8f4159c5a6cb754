-- Resolve a held charge, at most once.
--
--   settled   the call ended; its cost and units are what it used
--   expired   nobody settled it: bills the last checkpoint, or releases it if there was no output
--   released  nothing was produced; nothing is billed
--
-- p_ending: a billing.types.Ending; what it leaves out is 0. A charge that expires is given a
-- `failure` here.
--
-- The plan pays first, at cost, as far as its allowance goes now; the balance pays twice the rest.
-- A cost above the hold takes free funds of this account only, never another hold's; what is still
-- missing is written off as shortfall.
--
-- enable_seqscan is off because every row here is found by its key: a plan that was made and kept
-- while a table was still empty would read all of it for ever after. plan_cache_mode keeps such plans:
-- to plan for all partitions of billing_charge anew takes longer than everything else here.
--
-- outcome: 'resolved', 'already' (moved nothing), or 'unknown'. The other values are the charge's.
CREATE OR REPLACE FUNCTION money_resolve(
    p_ending json,
    OUT outcome text, OUT status text, OUT cost bigint,
    OUT charge_plan bigint, OUT charge_balance bigint, OUT shortfall bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    e record; c billing_charge; w billing_wallet; a billing_allowance;
    v_account uuid; t timestamptz; room bigint;
BEGIN
    SELECT i.charge_id, i.status, i.failure, coalesce(i.cost, 0) AS cost,
           coalesce(i.units, '{}') AS units
    INTO e FROM json_to_record(p_ending) AS i(
        charge_id uuid, status text, cost bigint, units jsonb, failure jsonb);
    SELECT account_id INTO v_account FROM billing_charge WHERE id = e.charge_id;
    IF NOT FOUND THEN outcome := 'unknown'; RETURN; END IF;
    SELECT * INTO w FROM billing_wallet WHERE account_id = v_account FOR NO KEY UPDATE;
    SELECT * INTO c FROM billing_charge WHERE id = e.charge_id FOR UPDATE;
    IF c.status <> 'held' THEN
        outcome := 'already'; status := c.status; cost := c.cost;
        charge_plan := c.charge_plan; charge_balance := c.charge_balance; shortfall := c.shortfall;
        RETURN;
    END IF;
    t := money_now();

    IF e.status = 'expired' THEN
        e.failure := coalesce(e.failure, '{"code": "interrupted",
            "message": "Nobody ended the call: its process has died, or its time was over."}');
    END IF;
    IF e.status = 'expired' AND c.first_output_at IS NOT NULL THEN
        e.cost := c.cost; e.units := c.units;
    ELSIF e.status <> 'settled' THEN
        e.status := 'released'; e.cost := 0; e.units := '{}';
    END IF;

    outcome := 'resolved'; status := e.status; cost := e.cost;
    charge_plan := 0; charge_balance := 0; shortfall := 0;

    IF c.funding = 'customer' THEN
        SELECT * INTO a FROM billing_allowance
        WHERE account_id = v_account AND model_id = c.model_id AND month = c.month;
        IF FOUND THEN
            room := greatest(c.hold_plan, a.granted - a.used - (a.held - c.hold_plan));
            charge_plan := least(e.cost, room);
            UPDATE billing_allowance
            SET held = held - c.hold_plan, used = used + money_resolve.charge_plan
            WHERE account_id = v_account AND model_id = c.model_id AND month = c.month;
        END IF;
        charge_balance := least(2 * (e.cost - charge_plan), c.hold_balance + w.balance - w.held);
        shortfall := 2 * (e.cost - charge_plan) - charge_balance;
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
            requests = requests + (e.status <> 'released')::int
        WHERE api_key_id = c.api_key_id AND month = c.month;
    END IF;
    IF c.group_id IS NOT NULL THEN
        UPDATE billing_chargegroup
        SET held = held - c.hold_plan - c.hold_balance,
            billed = billed + money_resolve.charge_plan + money_resolve.charge_balance
        WHERE id = c.group_id;
    END IF;
    UPDATE billing_charge ch
    SET status = e.status, cost = e.cost, units = e.units,
        charge_plan = money_resolve.charge_plan, charge_balance = money_resolve.charge_balance,
        shortfall = money_resolve.shortfall, allowance_left = room, failure = e.failure,
        resolved_at = t, resolved_tx = current_tx(),
        first_output_at = CASE e.status WHEN 'released' THEN NULL
                                        ELSE coalesce(ch.first_output_at, t) END
    WHERE ch.id = e.charge_id;

    IF e.status = 'released' THEN
        UPDATE billing_freewindow SET used = used - 1
        WHERE account_id = v_account AND model_id = c.model_id
          AND window_start = c.free_window_start AND used > 0;
    ELSIF c.funding = 'customer' OR c.free_window_start IS NOT NULL THEN
        -- What the platform calls for itself, such as a title, is nobody's usage.
        INSERT INTO billing_usagedaily AS u
            (account_id, api_key_id, model_id, day, requests, tokens_in, tokens_out, billed)
        VALUES (v_account, c.api_key_id, c.model_id, (c.admitted_at AT TIME ZONE 'UTC')::date,
                1, coalesce((e.units ->> 'tokens_in')::int, 0),
                coalesce((e.units ->> 'tokens_out')::int, 0), charge_plan + charge_balance)
        ON CONFLICT (account_id, day, api_key_id, model_id) DO UPDATE
        SET requests = u.requests + 1, tokens_in = u.tokens_in + excluded.tokens_in,
            tokens_out = u.tokens_out + excluded.tokens_out, billed = u.billed + excluded.billed;
    END IF;
END $$;

-- Resolve a charge that nobody runs any more: the status is 'expired' or 'released'.
CREATE OR REPLACE FUNCTION money_expire(
    p_charge uuid, p_failure jsonb DEFAULT NULL,
    OUT outcome text, OUT status text, OUT cost bigint,
    OUT charge_plan bigint, OUT charge_balance bigint, OUT shortfall bigint)
LANGUAGE sql VOLATILE AS $$
    SELECT * FROM money_resolve(json_build_object(
        'charge_id', p_charge, 'status', 'expired', 'failure', p_failure))
$$;
