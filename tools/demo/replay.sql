-- Carry out what happened to one account, in order, each thing at its own time and by the verb that
-- it goes through in earnest. What a verb refuses has not happened: a call without funds leaves no
-- trace. An amount that is missing means all that is left.
--
-- p_events: JSON array of publicapi.demo.events.Event. The clock is put back when the function ends.
CREATE OR REPLACE FUNCTION pg_temp.replay(p_account uuid, p_owner uuid, p_events json)
RETURNS void LANGUAGE plpgsql SET "platform.clock" = '' AS $$
DECLARE e record;
BEGIN
    FOR e IN
        SELECT * FROM json_to_recordset(p_events) AS i(
            at text, verb text, id uuid, plan text, amount bigint, description text, api_key uuid,
            model text, price_version bigint, source text, kind text, worst bigint,
            request_id text, cost bigint, units json)
    LOOP
        PERFORM set_config('platform.clock', e.at, true);
        CASE
            WHEN e.verb = 'plan' THEN
                PERFORM money_change_plan(p_account, e.plan, true);
            WHEN e.verb IN ('topup', 'adjust') THEN
                PERFORM money_move(
                    e.id, p_account, e.verb,
                    coalesce(e.amount, -(SELECT balance FROM billing_wallet
                                         WHERE account_id = p_account)),
                    e.description);
            WHEN e.verb = 'hold' THEN
                PERFORM money_hold(json_build_object(
                    'charge_id', e.id, 'account_id', p_account, 'api_key_id', e.api_key,
                    'model_id', e.model, 'price_version_id', e.price_version,
                    'source', e.source, 'kind', e.kind, 'worst_cost', e.worst,
                    'owner_id', p_owner, 'seconds', 600, 'request_id', e.request_id,
                    'funding', 'customer',
                    'free_window', e.source = 'web' AND e.kind = 'chat'));
            WHEN e.verb = 'checkpoint' THEN
                PERFORM money_checkpoint(ARRAY[p_owner], json_build_array(json_build_object(
                    'charge_id', e.id, 'units', e.units, 'cost', e.cost)));
            ELSE
                PERFORM money_resolve(json_build_object(
                    'charge_id', e.id, 'status', e.verb, 'cost', e.cost,
                    'units', e.units));
        END CASE;
    END LOOP;
END $$;
