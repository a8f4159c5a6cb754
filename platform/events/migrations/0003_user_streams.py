"""A stream for each user, opened together with the account, whose old events are deleted."""

from django.db import migrations, models

# The trigger first: whoever signs up during the rest has a stream by it.
OPEN = """
CREATE OR REPLACE FUNCTION open_user_stream() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_stream (id, kind, account_id) VALUES (NEW.id, 'user', NEW.id);
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER open_user_stream AFTER INSERT ON accounts_user
    FOR EACH ROW EXECUTE FUNCTION open_user_stream();
"""

DO_NOT_OPEN = """
DROP TRIGGER open_user_stream ON accounts_user;
DROP FUNCTION open_user_stream();
"""

OPEN_ALL = """
INSERT INTO events_stream (id, kind, account_id) SELECT id, 'user', id FROM accounts_user
ON CONFLICT (id) DO NOTHING;
"""

DELETE_ALL = """
DELETE FROM events_event e USING events_stream s WHERE s.id = e.stream_id AND s.kind = 'user';
DELETE FROM events_stream WHERE kind = 'user';
"""


class Migration(migrations.Migration):
    # The lock that a trigger needs is held for a moment only, and not while streams are opened.
    # Each operation may be repeated; the field, which may not, is the last.
    atomic = False

    dependencies = [("events", "0002_streams_by_kind")]

    operations = [
        migrations.RunSQL(OPEN, DO_NOT_OPEN),
        migrations.RunSQL(OPEN_ALL, DELETE_ALL),
        migrations.AddField(
            model_name="stream",
            name="purged_seq",
            field=models.BigIntegerField(db_default=0),
        ),
    ]
