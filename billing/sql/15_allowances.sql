-- What an account is granted of a model each month, at cost; NULL: balance only.
--
-- A plan whose price is agreed by contract takes the contract's allowances first.
CREATE OR REPLACE FUNCTION granted_allowance(p_account uuid, p_plan text, p_model text)
RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT c.granted FROM billing_contractallowance c
         JOIN billing_plan p ON p.key = p_plan AND p.price IS NULL
         WHERE c.account_id = p_account AND c.model_id = p_model),
        (SELECT granted FROM billing_planallowance
         WHERE plan_id = p_plan AND model_id = p_model))
$$;

-- Give this month's allowances of an account the size that its plan and contract grant now. What was
-- used stays used, and running charges keep what they hold. The caller holds the wallet.
CREATE OR REPLACE FUNCTION regrant_allowances(p_account uuid)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE billing_allowance a
    SET granted = g.granted, downgraded = a.used + a.held > g.granted
    FROM (SELECT mine.model_id,
                 coalesce(granted_allowance(p_account, s.plan_id, mine.model_id), 0) AS granted
          FROM billing_allowance mine JOIN billing_subscription s USING (account_id)
          WHERE mine.account_id = p_account AND mine.month = money_month()) g
    WHERE a.account_id = p_account AND a.model_id = g.model_id AND a.month = money_month();
END $$;
