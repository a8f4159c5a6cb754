"""Finding conversations by their words: conversations/words.py.

The function is schema, because the indexes are made of it: whoever changes it makes them anew.
"""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

import conversations.words

# Letters come without their marks, and with a space around each that belongs to a script without
# spaces: Thai, Lao, Burmese and Khmer, kana and Chinese characters.
_WORDS = r"""
CREATE FUNCTION conversations_words(account uuid, said text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT strip(to_tsvector('simple'::regconfig, regexp_replace(regexp_replace(
               normalize(regexp_replace(
                   replace(normalize(' ' || left(said, 20000), NFKD), 'ß', 'ss'),
                   '[\u0300-\u036f]', '', 'g'), NFC),
               '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])',
               ' \1 ', 'g'),
               '[^[:alnum:]]+', ' x' || right(account::text, 2), 'g'
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
