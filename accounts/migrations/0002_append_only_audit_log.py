"""What operators did is written down for good: the database itself refuses to alter the audit log.

One change passes: a transaction that has named the address of a deleted account
(`accounts.erased_address`) may replace that address, and nothing else.

It also gets the indexes that its page in the admin searches by.

TRUNCATE stays possible; it is how a test database is emptied.
"""

from django.db import migrations

FORBID = r"""
-- The text without the address, however it is written. A longer address that contains it is
-- somebody else's: ann@example.com is neither in joann@example.com nor in ann@example.com.au. What
-- stands in front of it may be an escape of JSON, which ends with a letter or a digit.
CREATE FUNCTION accounts_without_address(said text, address text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(
        said,
        '((?<![[:alnum:]._+-])|(?<=\\[bfnrt])|(?<=\\u[[:xdigit:]]{4}))'
            || regexp_replace(address, '[^[:alnum:]]', '\\\&', 'g')
            || '(?![[:alnum:]-]|\.[[:alnum:]])',
        '(deleted)',
        'gi')
$$;
CREATE FUNCTION accounts_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    address text := current_setting('accounts.erased_address', true);
BEGIN
    IF TG_OP = 'UPDATE' AND address <> '' THEN
        OLD.object_repr := left(accounts_without_address(OLD.object_repr, address), 200);
        OLD.change_message := accounts_without_address(OLD.change_message, address);
        IF NEW = OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER audit_log_append_only
    BEFORE UPDATE OR DELETE ON django_admin_log
    FOR EACH ROW EXECUTE FUNCTION accounts_refuse_audit_change();
-- The log is searched for what an entry is about, and for entries of a time.
CREATE INDEX audit_log_by_object ON django_admin_log (object_id);
CREATE INDEX audit_log_by_name ON django_admin_log (object_repr varchar_pattern_ops);
CREATE INDEX audit_log_by_time ON django_admin_log (action_time);
"""

ALLOW = """
DROP INDEX audit_log_by_object, audit_log_by_name, audit_log_by_time;
DROP TRIGGER audit_log_append_only ON django_admin_log;
DROP FUNCTION accounts_refuse_audit_change();
DROP FUNCTION accounts_without_address(text, text);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("admin", "0003_logentry_add_action_flag_choices"),
    ]

    operations = [migrations.RunSQL(FORBID, ALLOW)]
