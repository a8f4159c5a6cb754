"""Mailboxes behind addresses, and the networks that accounts and mails come from."""

from django.db import migrations, models

# As accounts.addresses.mailbox_of has it.
_FILL = """
UPDATE accounts_user SET mailbox = coalesce(
    nullif(CASE WHEN domain IN ('gmail.com', 'googlemail.com')
                THEN replace(box, '.', '') ELSE box END, ''), local_part)
    || '@' || CASE domain WHEN 'googlemail.com' THEN 'gmail.com' ELSE domain END
FROM (
    SELECT id, split_part(split_part(email, '@', 1), '+', 1) AS box,
           split_part(email, '@', 1) AS local_part, split_part(email, '@', 2) AS domain
    FROM accounts_user
) parts
WHERE parts.id = accounts_user.id
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_second_factor")]

    operations = [
        migrations.AddField(
            model_name="outgoingemail",
            name="mailbox",
            field=models.CharField(db_default="", db_index=True, max_length=254),
        ),
        migrations.AddField(
            model_name="outgoingemail",
            name="network",
            field=models.CharField(db_default="", db_index=True, max_length=50),
        ),
        migrations.AddField(
            model_name="user",
            name="mailbox",
            field=models.CharField(db_default="", editable=False, max_length=254),
        ),
        migrations.AddField(
            model_name="user",
            name="signup_network",
            field=models.CharField(blank=True, db_default="", editable=False, max_length=50),
        ),
        migrations.RunSQL(_FILL, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(fields=["mailbox", "created_at"], name="user_by_mailbox"),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(fields=["signup_network", "created_at"], name="user_by_network"),
        ),
    ]
