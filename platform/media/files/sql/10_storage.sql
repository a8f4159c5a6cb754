-- How much an account's kept files take, thumbnails included: a sum over a gallery of 50,000 pictures
-- would take longer than the rest of an order. docs/locking.md says where the row is locked.
CREATE OR REPLACE FUNCTION storage_use_add(p_account uuid, p_bytes bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE files_storageuse SET bytes = bytes + p_bytes WHERE account_id = p_account;
    IF NOT FOUND THEN
        INSERT INTO files_storageuse AS u (account_id, bytes) VALUES (p_account, p_bytes)
        ON CONFLICT (account_id) DO UPDATE SET bytes = u.bytes + excluded.bytes;
    END IF;
END $$;

-- Rows of several accounts are locked in the order of the accounts.
CREATE OR REPLACE FUNCTION storage_use_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM storage_use_add(account_id, -sum(size)::bigint) FROM old_files
        WHERE is_kept AND taken_down_at IS NULL GROUP BY account_id ORDER BY account_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM storage_use_add(account_id, sum(size)::bigint) FROM new_files
        WHERE is_kept AND taken_down_at IS NULL GROUP BY account_id ORDER BY account_id;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER storage_use_of_new AFTER INSERT ON files_storedfile
    REFERENCING NEW TABLE AS new_files
    FOR EACH STATEMENT EXECUTE FUNCTION storage_use_change();
CREATE OR REPLACE TRIGGER storage_use_of_changed AFTER UPDATE ON files_storedfile
    REFERENCING OLD TABLE AS old_files NEW TABLE AS new_files
    FOR EACH STATEMENT EXECUTE FUNCTION storage_use_change();
CREATE OR REPLACE TRIGGER storage_use_of_deleted AFTER DELETE ON files_storedfile
    REFERENCING OLD TABLE AS old_files
    FOR EACH STATEMENT EXECUTE FUNCTION storage_use_change();
