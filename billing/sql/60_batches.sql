-- Many calls' money in one transaction, for one process that runs many calls at a time. The verbs
-- are the same; each item stands or falls by itself.
--
-- A batch waits for nobody: a wallet that another transaction has locked is answered 'busy', and its
-- caller goes alone. So no account can hold up another, and batches cannot deadlock.

-- p_items: JSON array of billing.types.HoldRequest.
CREATE OR REPLACE FUNCTION money_hold_many(p_items json)
RETURNS TABLE (verdict text, plan text, needed bigint, afford bigint, balance bigint, used int,
               reset_at timestamptz)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE item record; locked uuid[];
BEGIN
    locked := lock_free_wallets(ARRAY(SELECT (i ->> 'account_id')::uuid
                                      FROM json_array_elements(p_items) i));
    FOR item IN
        SELECT * FROM json_to_recordset(p_items) AS i(
            charge_id uuid, account_id uuid, api_key_id uuid, model_id text,
            price_version_id bigint, source text, kind text, funding text, free_window boolean,
            worst_cost bigint, owner_id uuid, seconds int, request_id text,
            group_id uuid)
    LOOP
        IF item.account_id = ANY (locked) THEN
            RETURN QUERY SELECT * FROM money_hold(
                item.charge_id, item.account_id, item.api_key_id, item.model_id,
                item.price_version_id, item.source, item.kind, item.funding, item.free_window,
                item.worst_cost, item.owner_id, item.seconds, item.request_id, item.group_id);
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
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE item record; locked uuid[];
BEGIN
    locked := lock_free_wallets(ARRAY(SELECT (i ->> 'account_id')::uuid
                                      FROM json_array_elements(p_items) i));
    FOR item IN
        SELECT * FROM json_to_recordset(p_items) AS i(
            account_id uuid, charge_id uuid, status text, cost bigint, tokens_in int,
            tokens_out int, cached_tokens int, reasoning_tokens int, images int,
            seconds int, failure jsonb)
    LOOP
        IF item.account_id = ANY (locked) THEN
            RETURN QUERY SELECT * FROM money_resolve(
                item.charge_id, item.status, item.cost, item.tokens_in, item.tokens_out,
                item.cached_tokens, item.reasoning_tokens, item.images, coalesce(item.seconds, 0),
                item.failure);
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
