"""A stream for each user, opened together with the account."""

from django.conf import settings
from django.db import migrations

OPEN = """
CREATE FUNCTION open_user_stream() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_stream (id, kind, account_id) VALUES (NEW.id, 'user', NEW.id);
    RETURN NEW;
END $$;

CREATE TRIGGER open_user_stream AFTER INSERT ON accounts_user
    FOR EACH ROW EXECUTE FUNCTION open_user_stream();
"""

DO_NOT_OPEN = """
DROP TRIGGER open_user_stream ON accounts_user;
DROP FUNCTION open_user_stream();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("events", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [migrations.RunSQL(OPEN, DO_NOT_OPEN)]
