-- Requests that their client called by a name (the Idempotency-Key of the HTTP interfaces), per account
-- and route. Whoever calls these holds the account's wallet.

-- What the name stands for; no row where it stands for nothing, or has for 24 hours.
CREATE OR REPLACE FUNCTION find_idempotency_key(p_account uuid, p_route text, p_idempotency_key text)
RETURNS SETOF billing_idempotencykey LANGUAGE sql VOLATILE AS $$
    SELECT * FROM billing_idempotencykey
    WHERE account_id = p_account AND route = p_route AND key = p_idempotency_key
      AND created_at > money_now() - interval '24 hours'
$$;

-- Does a charge keep the name of its call? As long as it is held, and for good once anything was paid
-- for it: money, ours too, or a free message. A call that was released, or expired before it had cost
-- anything, gives its name back.
CREATE OR REPLACE FUNCTION charge_keeps_key(c billing_charge) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT c.status IN ('held', 'settled')
        OR c.status = 'expired' AND (c.cost > 0 OR c.free_window_start IS NOT NULL)
$$;

-- Let it stand for this request, and what that made. Raises an exception where it stands for a charge
-- that keeps it: whoever calls this has found that there is none.
CREATE OR REPLACE FUNCTION store_idempotency_key(
    p_account uuid, p_route text, p_idempotency_key text, p_digest bytea, p_result uuid)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO billing_idempotencykey AS k (account_id, route, key, digest, charge_id, created_at)
    VALUES (p_account, p_route, p_idempotency_key, p_digest, p_result, money_now())
    ON CONFLICT (account_id, route, key) DO UPDATE
    SET digest = excluded.digest, charge_id = excluded.charge_id,
        created_at = excluded.created_at, answer = NULL
    WHERE k.charge_id = excluded.charge_id OR k.created_at <= money_now() - interval '24 hours'
       OR NOT EXISTS (SELECT FROM billing_charge c WHERE c.id = k.charge_id AND charge_keeps_key(c));
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The name % stands for a call that was paid.', p_idempotency_key;
    END IF;
END $$;

-- Take the wallet for a request that is about to begin something, and say what it made when it was
-- sent before, if its client named it (p_idempotency_key, else NULL). What dead processes hold is freed, so that
-- what the account can pay with is what a hold would find.
-- outcome: 'new', 'already' (then result), 'idempotency_mismatch'.
CREATE OR REPLACE FUNCTION claim_idempotency_key(
    p_account uuid, p_route text, p_idempotency_key text, p_digest bytea, OUT outcome text, OUT result uuid)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
DECLARE o billing_idempotencykey; v_open int;
BEGIN
    SELECT open_charges INTO v_open FROM billing_wallet
    WHERE account_id = p_account FOR NO KEY UPDATE;
    SELECT * INTO o FROM find_idempotency_key(p_account, p_route, p_idempotency_key);
    IF FOUND THEN
        outcome := CASE o.digest WHEN p_digest THEN 'already' ELSE 'idempotency_mismatch' END;
        result := o.charge_id;
        RETURN;
    END IF;
    IF v_open > 0 THEN PERFORM expire_lapsed_charges(p_account, money_now()); END IF;
    outcome := 'new';
END $$;
