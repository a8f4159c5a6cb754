-- Admit a call, or say why not. Everything that may refuse it is read after the wallet lock, so no
-- cache and no race can let a revoked key, a spent cap or an empty balance through.
--
-- verdict: 'held', 'resolved' (this charge id was used before and has ended), or a refusal:
--   invalid_api_key account_disabled api_access_required model_not_allowed
--   spend_cap_reached spend_cap_in_flight insufficient_balance insufficient_for_request
--   free_limit free_model_locked group_budget_exceeded group_budget_in_flight
-- Amounts in nano-USD: needed = what the hold takes (plan part at cost, rest at 2x), afford = what
-- is there for it, balance = free balance. free_limit also says used and reset_at.
-- insufficient_balance: what is there is less than a cent; insufficient_for_request: it is more, and
-- less than this request needs.
--
-- p_hold: a billing.types.HoldRequest.
--
-- free_window: a message of the web app's chat. On the free plan, as it is now, one of the ten per
-- model and 4 hours pays for it, whatever the balance; on other plans it is a call like any other.
--
-- group_id: the group that the call belongs to (billing_chargegroup). What the group has billed and
-- holds, with this hold, stays within the group's budget; then afford = what is left of the budget. A
-- budget of null is no bound.
-- It is in_flight where calls that run hold so much, and exceeded where what is billed leaves too little.
--
-- A charge id that is still held by the same owner is admitted again: the reply was lost.
CREATE OR REPLACE FUNCTION money_hold(
    p_hold json,
    OUT verdict text, OUT plan text, OUT needed bigint, OUT afford bigint, OUT balance bigint,
    OUT used int, OUT reset_at timestamptz)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    h record; w billing_wallet; c billing_charge; k accounts_apikey; km billing_keymonth;
    a billing_allowance; g billing_chargegroup;
    v_status text; v_api_access boolean; v_month date; v_granted bigint;
    v_hold_plan bigint := 0; v_hold_balance bigint := 0; v_window timestamptz;
    t timestamptz;
BEGIN
    SELECT * INTO h FROM json_to_record(p_hold) AS i(
        charge_id uuid, account_id uuid, api_key_id uuid, model_id text, price_version_id bigint,
        source text, kind text, worst_cost bigint, owner_id uuid, seconds int, request_id text,
        funding text, free_window boolean, group_id uuid);
    SELECT * INTO w FROM billing_wallet WHERE account_id = h.account_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN verdict := 'account_disabled'; RETURN; END IF;
    t := money_now();
    v_month := date_trunc('month', t AT TIME ZONE 'UTC')::date;

    SELECT * INTO c FROM billing_charge WHERE id = h.charge_id;
    IF FOUND THEN
        verdict := CASE WHEN c.status = 'held' AND c.owner_id = h.owner_id
                         AND c.account_id = h.account_id
                        THEN 'held' ELSE 'resolved' END;
        plan := c.plan_id; RETURN;
    END IF;

    -- Who pays, and may they?
    SELECT u.status, s.plan_id, p.api_access INTO v_status, plan, v_api_access
    FROM accounts_user u
    JOIN billing_subscription s ON s.account_id = u.id
    JOIN billing_plan p ON p.key = s.plan_id
    WHERE u.id = h.account_id;
    IF h.api_key_id IS NOT NULL THEN
        SELECT * INTO k FROM accounts_apikey WHERE id = h.api_key_id AND account_id = h.account_id;
        IF NOT FOUND OR k.revoked_at IS NOT NULL THEN verdict := 'invalid_api_key'; RETURN; END IF;
    END IF;
    IF v_status <> 'active' THEN verdict := 'account_disabled'; RETURN; END IF;
    IF h.api_key_id IS NOT NULL THEN
        IF NOT v_api_access THEN verdict := 'api_access_required'; RETURN; END IF;
        IF cardinality(k.allowed_models) > 0 AND h.model_id <> ALL (k.allowed_models) THEN
            verdict := 'model_not_allowed'; RETURN;
        END IF;
        IF k.last_used_at IS NULL OR k.last_used_at < t - interval '1 minute' THEN
            -- Not worth waiting for somebody who edits the key just now.
            UPDATE accounts_apikey SET last_used_at = t
            WHERE id = (SELECT id FROM accounts_apikey WHERE id = h.api_key_id
                        FOR NO KEY UPDATE SKIP LOCKED);
        END IF;
    END IF;

    -- What a dead process still holds must not stand in the way of this call.
    IF w.open_charges > 0 THEN
        PERFORM expire_lapsed_charges(h.account_id, t);
        SELECT * INTO w FROM billing_wallet WHERE account_id = h.account_id;
    END IF;

    -- The key's cap: what is billed plus what runs must be below it, so that whatever runs ends how
    -- it may, at most the last admitted request crosses the cap.
    IF h.api_key_id IS NOT NULL THEN
        SELECT * INTO km FROM billing_keymonth WHERE api_key_id = h.api_key_id AND month = v_month;
        IF NOT FOUND THEN
            INSERT INTO billing_keymonth (api_key_id, month) VALUES (h.api_key_id, v_month)
            RETURNING * INTO km;
        END IF;
        IF km.billed + km.held >= k.monthly_spend_cap THEN
            verdict := CASE WHEN km.billed >= k.monthly_spend_cap
                            THEN 'spend_cap_reached' ELSE 'spend_cap_in_flight' END;
            RETURN;
        END IF;
    END IF;

    balance := w.balance - w.held;
    IF h.free_window AND plan = 'free' THEN
        IF NOT EXISTS (SELECT FROM catalog_aimodel WHERE id = h.model_id AND free) THEN
            verdict := 'free_model_locked'; RETURN;
        END IF;
        h.funding := 'platform';
        INSERT INTO billing_freewindow AS f (account_id, model_id, window_start, used)
        VALUES (h.account_id, h.model_id, t, 1)
        ON CONFLICT (account_id, model_id) DO UPDATE SET
            used = CASE WHEN f.window_start <= t - interval '4 hours' THEN 1 ELSE f.used + 1 END,
            window_start = CASE WHEN f.window_start <= t - interval '4 hours'
                                THEN t ELSE f.window_start END
        WHERE f.window_start <= t - interval '4 hours' OR f.used < 10
        RETURNING f.window_start INTO v_window;
        IF NOT FOUND THEN
            SELECT f.used, f.window_start + interval '4 hours' INTO used, reset_at
            FROM billing_freewindow f WHERE f.account_id = h.account_id AND f.model_id = h.model_id;
            verdict := 'free_limit'; RETURN;
        END IF;
    END IF;

    IF h.funding = 'customer' THEN
        SELECT * INTO a FROM billing_allowance
        WHERE account_id = h.account_id AND model_id = h.model_id AND month = v_month;
        IF NOT FOUND THEN
            v_granted := granted_allowance(h.account_id, plan, h.model_id);
            IF v_granted IS NOT NULL THEN
                INSERT INTO billing_allowance (account_id, model_id, month, granted)
                VALUES (h.account_id, h.model_id, v_month, v_granted) RETURNING * INTO a;
            END IF;
        END IF;
        v_hold_plan := least(h.worst_cost, greatest(0, coalesce(a.granted - a.used - a.held, 0)));
        v_hold_balance := 2 * (h.worst_cost - v_hold_plan);
        needed := v_hold_plan + v_hold_balance;
        afford := greatest(0, coalesce(a.granted - a.used - a.held, 0)) + balance;
        IF v_hold_balance > balance THEN
            -- Below one cent (NUSD_PER_CENT): the rule of billing/selectors/affordability.py as well.
            verdict := CASE WHEN afford < 10000000 THEN 'insufficient_balance'
                            ELSE 'insufficient_for_request' END;
            RETURN;
        END IF;
        IF h.group_id IS NOT NULL THEN
            SELECT * INTO STRICT g FROM billing_chargegroup
            WHERE id = h.group_id AND account_id = h.account_id;
            IF g.billed + g.held + needed > g.budget THEN
                verdict := CASE WHEN g.billed + needed > g.budget
                                THEN 'group_budget_exceeded' ELSE 'group_budget_in_flight' END;
                afford := greatest(0, g.budget - g.billed - g.held);
                RETURN;
            END IF;
        END IF;
        UPDATE billing_allowance SET held = held + v_hold_plan
        WHERE v_hold_plan > 0
          AND account_id = h.account_id AND model_id = h.model_id AND month = v_month;
    END IF;

    UPDATE billing_wallet SET held = held + v_hold_balance, open_charges = open_charges + 1
    WHERE account_id = h.account_id;
    UPDATE billing_keymonth SET held = held + v_hold_plan + v_hold_balance
    WHERE api_key_id = h.api_key_id AND month = v_month;
    IF h.group_id IS NOT NULL THEN
        UPDATE billing_chargegroup SET held = held + v_hold_plan + v_hold_balance WHERE id = h.group_id;
    END IF;
    INSERT INTO billing_charge
        (id, account_id, api_key_id, model_id, plan_id, price_version_id, source, kind, funding,
         status, request_id, owner_id, month, admitted_at, deadline_at, worst_cost, hold_plan,
         hold_balance, cap_at_hold, key_committed_before, free_window_start,
         group_id)
    VALUES
        (h.charge_id, h.account_id, h.api_key_id, h.model_id, plan, h.price_version_id, h.source,
         h.kind, h.funding, 'held', h.request_id, h.owner_id, v_month, t,
         t + make_interval(secs => h.seconds), h.worst_cost, v_hold_plan, v_hold_balance,
         k.monthly_spend_cap,
         CASE WHEN h.api_key_id IS NOT NULL THEN km.billed + km.held END, v_window,
         h.group_id);
    verdict := 'held';
END $$;

-- After a refusal of a call that money_hold was asked for: the balance, what running calls hold of it,
-- and whether allowance and balance would pay the call if no other call ran.
CREATE OR REPLACE FUNCTION money_shortage(
    p_hold json, OUT balance bigint, OUT held bigint, OUT is_held boolean)
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT w.balance, w.held,
           2 * (h.worst_cost - least(h.worst_cost, greatest(0, coalesce(
               a.granted - a.used, granted_allowance(h.account_id, s.plan_id, h.model_id), 0))))
           <= w.balance
    FROM json_to_record(p_hold) AS h(account_id uuid, model_id text, worst_cost bigint)
    JOIN billing_wallet w USING (account_id)
    JOIN billing_subscription s USING (account_id)
    LEFT JOIN billing_allowance a
        ON a.account_id = h.account_id AND a.model_id = h.model_id AND a.month = money_month()
$$;

-- End those of an account's charges whose owner has gone or whose time is over. The oldest first, as
-- the sweep does it: who comes first takes what is left of an allowance. The caller holds the wallet.
CREATE OR REPLACE FUNCTION expire_lapsed_charges(p_account uuid, p_now timestamptz)
RETURNS void LANGUAGE plpgsql VOLATILE SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE v_lapsed uuid;
BEGIN
    FOR v_lapsed IN
        SELECT id FROM billing_charge ch
        WHERE ch.account_id = p_account AND ch.status = 'held'
          AND charge_lapsed(ch.owner_id, ch.deadline_at, p_now)
        ORDER BY ch.admitted_at, ch.id
    LOOP
        PERFORM money_expire(v_lapsed);
    END LOOP;
END $$;
