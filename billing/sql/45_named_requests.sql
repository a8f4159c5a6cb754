-- Requests that their client called by a name (the Idempotency-Key of the HTTP interfaces), per account
-- and route. Whoever calls these holds the account's wallet.

-- What the name stands for; no row where it stands for nothing, or has for 24 hours.
CREATE OR REPLACE FUNCTION find_named_request(p_account uuid, p_route text, p_once text)
RETURNS SETOF billing_idempotencykey LANGUAGE sql VOLATILE AS $$
    SELECT * FROM billing_idempotencykey
    WHERE account_id = p_account AND route = p_route AND key = p_once
      AND created_at > money_now() - interval '24 hours'
$$;

-- Let it stand for this request, and what that made.
CREATE OR REPLACE FUNCTION keep_named_request(
    p_account uuid, p_route text, p_once text, p_digest bytea, p_result uuid)
RETURNS void LANGUAGE sql VOLATILE AS $$
    INSERT INTO billing_idempotencykey (account_id, route, key, digest, charge_id, created_at)
    VALUES (p_account, p_route, p_once, p_digest, p_result, money_now())
    ON CONFLICT (account_id, route, key) DO UPDATE
    SET digest = excluded.digest, charge_id = excluded.charge_id,
        created_at = excluded.created_at, answer = NULL
$$;
