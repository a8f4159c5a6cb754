-- Set the budget of an account's group for the calls to come; null is no bound. Under the wallet's
-- lock, as every hold: a call was admitted by the budget before, or is by this one.
--
-- p_calls: charges that count against the budget although they belong to no group, since they were
-- held before it was there: what they were billed, and what they hold. What they hold is taken as
-- spent, so that the bound holds however they end.
--
-- verdict: 'set', or 'below_spent': billed and held already exceed that budget; spent = what they are.
-- In nano-USD.
CREATE OR REPLACE FUNCTION money_set_group_budget(
    p_group uuid, p_account uuid, p_budget bigint, p_calls uuid[],
    OUT verdict text, OUT spent bigint)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE g billing_chargegroup; v_others bigint;
BEGIN
    PERFORM FROM billing_wallet WHERE account_id = p_account FOR NO KEY UPDATE;
    INSERT INTO billing_chargegroup (id, account_id) VALUES (p_group, p_account)
    ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT g FROM billing_chargegroup WHERE id = p_group AND account_id = p_account;
    SELECT coalesce(sum(CASE status WHEN 'held' THEN hold_plan + hold_balance
                                    ELSE charge_plan + charge_balance END), 0) INTO v_others
    FROM billing_charge
    WHERE id = ANY (p_calls) AND account_id = p_account AND group_id IS NULL
      AND funding = 'customer';
    spent := g.billed + g.held + v_others;
    IF p_budget < spent THEN verdict := 'below_spent'; RETURN; END IF;
    UPDATE billing_chargegroup SET budget = p_budget - v_others WHERE id = p_group;
    verdict := 'set';
END $$;
