"""Finding conversations by their words: conversations/words.py.

The function is schema, because the indexes are made of it: whoever changes it makes them anew.
"""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

import conversations.words

_WORDS = """
CREATE FUNCTION conversations_words(account uuid, said text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT strip(to_tsvector('simple'::regconfig, regexp_replace(
               ' ' || left(said, 100000), '[^[:alnum:]]+', ' x' || right(account::text, 2), 'g'
           ))) || array_to_tsvector(ARRAY[account::text])
$$
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial")]

    operations = [
        migrations.RunSQL(_WORDS, "DROP FUNCTION conversations_words(uuid, text)"),
        migrations.AddIndex(
            model_name="conversation",
            index=django.contrib.postgres.indexes.GinIndex(
                conversations.words.Words("account_id", "title"),
                fastupdate=False,
                name="conversation_words",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=django.contrib.postgres.indexes.GinIndex(
                conversations.words.Words("account_id", "content"),
                fastupdate=False,
                name="message_words",
            ),
        ),
        migrations.AlterField(
            model_name="conversation",
            name="space",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="conversations",
                to="conversations.space",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(fields=["space", "-activity"], name="conversation_of_space"),
        ),
    ]
