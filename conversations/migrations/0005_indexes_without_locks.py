"""The indexes of the fields that 0003 and 0004 add, made while replies are written: a lock on their
tables would keep the wallets of all that end meanwhile. Databases that have them make them again.
"""

from django.db import migrations, models

from common.indexes import AddIndexRepeatably, RemoveIndexRepeatably

_ONE_MESSAGE_OF_AN_ID = [
    "SET lock_timeout = 0",
    "DROP INDEX CONCURRENTLY IF EXISTS one_message_of_an_id",
    """
    CREATE UNIQUE INDEX CONCURRENTLY one_message_of_an_id
        ON conversations_message (account_id, client_id, conversation_id)
        WHERE client_id IS NOT NULL
    """,
    "RESET lock_timeout",
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("conversations", "0004_deleting_pinning_rating")]

    operations = [
        migrations.RunSQL(
            _ONE_MESSAGE_OF_AN_ID,
            "DROP INDEX CONCURRENTLY IF EXISTS one_message_of_an_id",
            state_operations=[
                migrations.AddConstraint(
                    model_name="message",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(("client_id__isnull", False)),
                        fields=("account_id", "client_id", "conversation"),
                        name="one_message_of_an_id",
                    ),
                ),
            ],
        ),
        AddIndexRepeatably(
            model_name="conversation",
            index=models.Index(
                fields=["account", "-pinned", "-activity"], name="conversation_as_listed"
            ),
        ),
        AddIndexRepeatably(
            model_name="conversation",
            index=models.Index(
                fields=["space", "-pinned", "-activity"], name="conversation_in_space"
            ),
        ),
        RemoveIndexRepeatably(model_name="conversation", name="conversation_by_activity"),
        RemoveIndexRepeatably(model_name="conversation", name="conversation_of_space"),
    ]
