-- What an account on a plan is granted each month, at cost; of other models nothing.
--
-- A plan whose price is agreed by contract takes the contract's allowances first. What is neither chat
-- nor pictures belongs to no plan and no contract, whatever has been written down.
CREATE OR REPLACE FUNCTION granted_allowances(p_account uuid, p_plan text)
RETURNS TABLE (model_id varchar, granted bigint) LANGUAGE sql STABLE AS $$
    SELECT model_id, coalesce(agreed.granted, listed.granted)
    FROM (SELECT a.model_id, a.granted FROM billing_planallowance a
          WHERE a.plan_id = p_plan) listed
    FULL JOIN (SELECT c.model_id, c.granted FROM billing_contractallowance c
               JOIN billing_plan p ON p.key = p_plan AND p.price IS NULL
               WHERE c.account_id = p_account) agreed USING (model_id)
    JOIN catalog_aimodel m ON m.id = model_id AND m.modality IN ('chat', 'image')
$$;

-- The same of one model; NULL: balance only.
CREATE OR REPLACE FUNCTION granted_allowance(p_account uuid, p_plan text, p_model text)
RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT granted FROM granted_allowances(p_account, p_plan) WHERE model_id = p_model
$$;

-- Give this month's allowances of an account the size that its plan and contract grant now. What was
-- used stays used, and running charges keep what they hold. The caller holds the wallet.
CREATE OR REPLACE FUNCTION regrant_allowances(p_account uuid)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE v_month date := money_month(); v_plan text;
BEGIN
    SELECT plan_id INTO v_plan FROM billing_subscription WHERE account_id = p_account;
    -- For calls that run: they may have come when nothing was granted, and look here when they end.
    INSERT INTO billing_allowance (account_id, model_id, month, granted)
    SELECT DISTINCT p_account, g.model_id, v_month, g.granted
    FROM granted_allowances(p_account, v_plan) g JOIN billing_charge c USING (model_id)
    WHERE c.account_id = p_account AND c.status = 'held' AND c.month = v_month
      AND c.funding = 'customer'
    ON CONFLICT DO NOTHING;
    UPDATE billing_allowance a
    SET granted = g.granted, downgraded = a.used + a.held > g.granted
    FROM (SELECT model_id, coalesce(granted_allowance(p_account, v_plan, model_id), 0) AS granted
          FROM billing_allowance WHERE account_id = p_account AND month = v_month) g
    WHERE a.account_id = p_account AND a.model_id = g.model_id AND a.month = v_month;
END $$;
