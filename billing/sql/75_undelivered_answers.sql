-- Answers of calls whose callers went away before they had all of them, for those who send the request
-- again (`publicapi/v1/retries.py`).
--
-- A row is written when the connection closes. The settlement's transaction adds the answer, so that no
-- crash can bill a call and lose the answer of a caller that was known to be gone. A call that bills
-- nothing leaves no row.
--
-- Each function that changes an account's rows holds its wallet, but note_undelivered, which never waits.

-- How long an answer is kept: longer than clients try again.
CREATE OR REPLACE FUNCTION undelivered_since() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT money_now() - interval '10 minutes'
$$;

-- Leave an API key its 200 newest rows. One that is being delivered stays.
CREATE OR REPLACE FUNCTION trim_undelivered(p_keys uuid[]) RETURNS void
LANGUAGE sql VOLATILE AS $$
    DELETE FROM billing_undeliveredanswer WHERE charge_id IN (
        SELECT charge_id FROM billing_undeliveredanswer WHERE claim IS NULL AND charge_id IN (
            SELECT charge_id FROM (
                SELECT charge_id, row_number() OVER (
                    PARTITION BY api_key_id ORDER BY kept_at DESC, charge_id DESC) AS n
                FROM billing_undeliveredanswer WHERE api_key_id = ANY (p_keys)) numbered
            WHERE n > 200)
        FOR UPDATE SKIP LOCKED)
$$;

-- Note that the callers of these calls have gone. p_calls: JSON array of billing.types.UndeliveredCall.
-- Returns the charges that are noted. One that is not noted is not held yet, has ended, or is being
-- resolved right now.
CREATE OR REPLACE FUNCTION note_undelivered(p_calls json) RETURNS SETOF uuid
LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
    SELECT trim_undelivered(ARRAY(SELECT (i ->> 'api_key_id')::uuid FROM json_array_elements(p_calls) i));

    INSERT INTO billing_undeliveredanswer AS u
        (charge_id, account_id, api_key_id, route, digest, request_id, kept_at)
    SELECT i.charge_id, i.account_id, i.api_key_id, i.route, decode(i.digest, 'hex'), i.request_id,
           money_now()
    FROM json_to_recordset(p_calls) AS i(charge_id uuid, account_id uuid, api_key_id uuid, route text,
                                         digest text, request_id text)
    JOIN billing_charge c ON c.id = i.charge_id
    WHERE c.status = 'held'
    ORDER BY c.id FOR SHARE OF c SKIP LOCKED
    ON CONFLICT (charge_id) DO UPDATE SET kept_at = excluded.kept_at
    RETURNING u.charge_id
$$;

-- Keep the answer of such a call, if it fits: one has at most 16 MB, those of an account 64 MB, those of
-- all 1 GB. The oldest of an account make room. p_call: a billing.types.UndeliveredCall, whose charge was
-- settled. The caller holds the wallet.
CREATE OR REPLACE FUNCTION store_undelivered(
    p_call json, p_answer bytea, p_most_of_one bigint DEFAULT 16777216,
    p_most_of_account bigint DEFAULT 67108864, p_most bigint DEFAULT 1073741824)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE i record; v_size bigint := octet_length(p_answer); v_all bigint;
BEGIN
    SELECT * INTO i FROM json_to_record(p_call) AS i(
        charge_id uuid, account_id uuid, api_key_id uuid, route text, digest text, request_id text);
    SELECT coalesce(sum(octet_length(answer)), 0) INTO v_all FROM billing_undeliveredanswer
    WHERE answer IS NOT NULL;
    IF v_size > p_most_of_one OR v_all + v_size > p_most THEN
        DELETE FROM billing_undeliveredanswer WHERE charge_id = i.charge_id;
        RETURN;
    END IF;
    DELETE FROM billing_undeliveredanswer WHERE claim IS NULL AND charge_id IN (
        SELECT charge_id FROM (
            SELECT charge_id, sum(octet_length(answer)) OVER (
                ORDER BY kept_at DESC, charge_id DESC) AS kept
            FROM billing_undeliveredanswer
            WHERE account_id = i.account_id AND answer IS NOT NULL) summed
        WHERE kept + v_size > p_most_of_account);
    INSERT INTO billing_undeliveredanswer AS u
        (charge_id, account_id, api_key_id, route, digest, request_id, kept_at, answer)
    VALUES (i.charge_id, i.account_id, i.api_key_id, i.route, decode(i.digest, 'hex'), i.request_id,
            money_now(), p_answer)
    ON CONFLICT (charge_id) DO UPDATE SET kept_at = excluded.kept_at, answer = excluded.answer;
    PERFORM trim_undelivered(ARRAY[i.api_key_id]);
END $$;

-- Resolve the charge of such a call, and keep its answer if it is billed.
CREATE OR REPLACE FUNCTION money_resolve_undelivered(
    p_call json, p_answer bytea, p_ending json,
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
        PERFORM store_undelivered(p_call, p_answer);
    ELSIF outcome = 'resolved' THEN
        DELETE FROM billing_undeliveredanswer WHERE charge_id = (p_call ->> 'charge_id')::uuid;
    END IF;
END $$;

-- Keep the answer of a call that had been settled when its caller went away. False where it was not.
CREATE OR REPLACE FUNCTION keep_undelivered(p_call json, p_answer bytea) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
BEGIN
    PERFORM FROM billing_wallet WHERE account_id = (p_call ->> 'account_id')::uuid FOR NO KEY UPDATE;
    PERFORM FROM billing_charge WHERE id = (p_call ->> 'charge_id')::uuid AND status = 'settled';
    IF FOUND THEN PERFORM store_undelivered(p_call, p_answer); END IF;
    RETURN FOUND;
END $$;

-- Claim the answer for a repetition of the request: that of the oldest call whose caller has gone, and
-- which nobody else has claimed. p_retry: a billing.types.Retry.
-- outcome: 'claimed' (then charge), 'connected' (no caller is known to have gone, but a call that could
-- be that of the request runs), 'none'.
CREATE OR REPLACE FUNCTION claim_undelivered(
    p_retry json, p_claim uuid, p_owner uuid, OUT outcome text, OUT charge uuid)
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' SET enable_seqscan = off AS $$
DECLARE i record; t timestamptz;
BEGIN
    SELECT * INTO i FROM json_to_record(p_retry) AS i(
        account_id uuid, api_key_id uuid, route text, digest text, retry_of text,
        model_id text, kind text, worst_cost bigint);
    PERFORM FROM billing_wallet WHERE account_id = i.account_id FOR NO KEY UPDATE;
    t := money_now();
    UPDATE billing_undeliveredanswer SET claim = p_claim, claimed_by = p_owner
    WHERE charge_id = (
        SELECT charge_id FROM billing_undeliveredanswer
        WHERE api_key_id = i.api_key_id AND digest = decode(i.digest, 'hex') AND route = i.route
          AND (i.retry_of IS NULL OR request_id = i.retry_of) AND kept_at > undelivered_since()
          AND (claim IS NULL OR claim = p_claim OR lease_lapsed(claimed_by, t))
        ORDER BY claim IS NOT DISTINCT FROM p_claim DESC, charge_id LIMIT 1)
    RETURNING charge_id INTO charge;
    IF FOUND THEN outcome := 'claimed'; RETURN; END IF;
    PERFORM FROM billing_charge c
    WHERE c.account_id = i.account_id AND c.status = 'held' AND c.api_key_id = i.api_key_id
      AND c.model_id = i.model_id AND c.kind = i.kind AND c.worst_cost = i.worst_cost
      AND (i.retry_of IS NULL OR c.request_id = i.retry_of)
      AND NOT charge_lapsed(c.owner_id, c.deadline_at, t)
      AND NOT EXISTS (SELECT FROM billing_undeliveredanswer u WHERE u.charge_id = c.id);
    outcome := CASE WHEN FOUND THEN 'connected' ELSE 'none' END;
END $$;

-- What is claimed, as it stands now; no row where it is not claimed any more. lapsed: nobody runs the
-- call any more, and the charge is to be expired.
CREATE OR REPLACE FUNCTION claimed_undelivered(p_charge uuid, p_claim uuid)
RETURNS TABLE (status text, billed bigint, begun boolean, lapsed boolean, answer bytea)
LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
    SELECT c.status, c.charge_plan + c.charge_balance, c.first_output_at IS NOT NULL,
           c.status = 'held' AND charge_lapsed(c.owner_id, c.deadline_at, money_now()), u.answer
    FROM billing_undeliveredanswer u JOIN billing_charge c ON c.id = u.charge_id
    WHERE u.charge_id = p_charge AND u.claim = p_claim
$$;

-- Forget what is too old to be delivered.
CREATE OR REPLACE FUNCTION forget_undelivered(p_limit int) RETURNS SETOF uuid
LANGUAGE sql VOLATILE AS $$
    DELETE FROM billing_undeliveredanswer WHERE charge_id IN (
        SELECT charge_id FROM billing_undeliveredanswer WHERE kept_at <= undelivered_since()
        ORDER BY kept_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
    RETURNING charge_id
$$;
