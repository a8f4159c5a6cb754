-- Many calls' money in one transaction, for one process that runs many calls at a time. The verbs
-- are the same; each item stands or falls by itself.
--
-- A batch waits for nobody: a wallet that another transaction has locked is answered 'busy', and its
-- caller goes alone. So no account can hold up another, and batches cannot deadlock.

-- p_items: JSON array of billing.types.HoldRequest.
CREATE OR REPLACE FUNCTION money_hold_many(p_items json)
RETURNS TABLE (verdict text, plan text, needed bigint, afford bigint, balance bigint, used int,
               reset_at timestamptz)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE item json; locked uuid[];
BEGIN
    locked := lock_free_wallets(ARRAY(SELECT (i ->> 'account_id')::uuid
                                      FROM json_array_elements(p_items) i));
    FOR item IN SELECT * FROM json_array_elements(p_items) LOOP
        IF (item ->> 'account_id')::uuid = ANY (locked) THEN
            RETURN QUERY SELECT * FROM money_hold(item);
        ELSE
            verdict := 'busy';
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;

-- p_items: JSON array of billing.types.Ending.
CREATE OR REPLACE FUNCTION money_resolve_many(p_items json)
RETURNS TABLE (outcome text, status text, cost bigint, charge_plan bigint, charge_balance bigint,
               shortfall bigint)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE item json; locked uuid[];
BEGIN
    locked := lock_free_wallets(ARRAY(SELECT (i ->> 'account_id')::uuid
                                      FROM json_array_elements(p_items) i));
    FOR item IN SELECT * FROM json_array_elements(p_items) LOOP
        IF (item ->> 'account_id')::uuid = ANY (locked) THEN
            RETURN QUERY SELECT * FROM money_resolve(item);
        ELSE
            outcome := 'busy';
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;

-- Lock those of the wallets that nobody else has locked; returns their accounts.
CREATE OR REPLACE FUNCTION lock_free_wallets(p_accounts uuid[])
RETURNS uuid[] LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN ARRAY(SELECT account_id FROM billing_wallet WHERE account_id = ANY (p_accounts)
                 ORDER BY account_id FOR NO KEY UPDATE SKIP LOCKED);
END $$;
