-- Calls that happen once, however often they are sent (the Idempotency-Key of the HTTP interfaces).
--
-- The row of a key is claimed in the hold's transaction and gets its answer in the settlement's, so
-- that no crash can bill a call and lose its answer, or keep a key that billed nothing.

-- Hold for such a call, or say what became of it. verdict is money_hold's, or
--   replay                    it was made and billed: `answer`, `paid_by` (a charge), `billed`
--   interrupted               its process died and it was billed so far: `paid_by`, `billed`
--   forgotten                 it was made and billed, and its answer is not kept any more: the same
--   idempotency_mismatch      the key stands for another request
--   idempotency_in_progress   it is running
-- A key is free again where its call was refused, or its charge does not keep it (charge_keeps_key),
-- and after 24 hours.
CREATE OR REPLACE FUNCTION money_hold_idempotently(
    p_route text, p_idempotency_key text, p_digest bytea, p_hold json,
    OUT verdict text, OUT plan text, OUT needed bigint, OUT afford bigint, OUT balance bigint,
    OUT used int, OUT reset_at timestamptz, OUT answer bytea, OUT paid_by uuid, OUT billed bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE o billing_idempotencykey; c billing_charge; h record; t timestamptz;
    v_account uuid := p_hold ->> 'account_id'; v_charge uuid := p_hold ->> 'charge_id';
BEGIN
    PERFORM FROM billing_wallet WHERE account_id = v_account FOR NO KEY UPDATE;
    t := money_now();
    SELECT * INTO o FROM find_idempotency_key(v_account, p_route, p_idempotency_key);
    IF FOUND AND o.charge_id <> v_charge THEN
        SELECT * INTO c FROM billing_charge WHERE id = o.charge_id;
        IF c.status = 'held' AND charge_lapsed(c.owner_id, c.deadline_at, t) THEN
            PERFORM money_expire(c.id);
            SELECT * INTO c FROM billing_charge WHERE id = o.charge_id;
        END IF;
        IF charge_keeps_key(c) THEN
            verdict := CASE WHEN o.digest <> p_digest THEN 'idempotency_mismatch'
                            WHEN c.status = 'held' THEN 'idempotency_in_progress'
                            WHEN o.answer IS NOT NULL THEN 'replay'
                            WHEN c.status = 'expired' THEN 'interrupted'
                            ELSE 'forgotten' END;
            IF verdict IN ('replay', 'interrupted', 'forgotten') THEN
                answer := o.answer; paid_by := c.id; billed := c.charge_plan + c.charge_balance;
            END IF;
            RETURN;
        END IF;
    END IF;

    SELECT * INTO h FROM money_hold(p_hold);
    verdict := h.verdict; plan := h.plan; needed := h.needed; afford := h.afford;
    balance := h.balance; used := h.used; reset_at := h.reset_at;
    IF verdict = 'held' THEN
        PERFORM store_idempotency_key(v_account, p_route, p_idempotency_key, p_digest, v_charge);
    END IF;
END $$;

-- Resolve the charge of such a call, and keep its answer if it is billed.
CREATE OR REPLACE FUNCTION money_resolve_idempotently(
    p_route text, p_idempotency_key text, p_answer bytea, p_ending json,
    OUT outcome text, OUT status text, OUT cost bigint,
    OUT charge_plan bigint, OUT charge_balance bigint, OUT shortfall bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE r record;
BEGIN
    SELECT * INTO r FROM money_resolve(p_ending);
    outcome := r.outcome; status := r.status; cost := r.cost;
    charge_plan := r.charge_plan; charge_balance := r.charge_balance; shortfall := r.shortfall;
    IF outcome = 'resolved' AND status = 'settled' THEN
        UPDATE billing_idempotencykey SET answer = p_answer
        WHERE account_id = (p_ending ->> 'account_id')::uuid AND route = p_route
          AND key = p_idempotency_key AND charge_id = (p_ending ->> 'charge_id')::uuid;
    END IF;
END $$;
