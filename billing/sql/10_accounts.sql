-- An account cannot exist without a wallet and a plan: they are opened with the user row.
CREATE OR REPLACE FUNCTION open_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO billing_wallet (account_id) VALUES (NEW.id);
    INSERT INTO billing_subscription (account_id, plan_id)
        SELECT NEW.id, key FROM billing_plan WHERE key = 'free';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There are no plans: run manage.py setup' USING ERRCODE = 'undefined_object';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER open_account AFTER INSERT ON accounts_user
    FOR EACH ROW EXECUTE FUNCTION open_account();

-- The ledger and the refunds are append-only, whoever writes.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON billing_ledgerentry
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER refunds_append_only BEFORE UPDATE OR DELETE ON billing_refund
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
