"""Finding conversations by their words: conversations/words.py.

The function is schema, because the indexes are made of it: whoever changes it rebuilds the indexes.
"""

import django.contrib.postgres.indexes
from django.db import migrations

import conversations.words

# Letters come without case and marks, as in conversations/snippets.py, and with a space around each
# that belongs to a script without spaces: Thai, Lao, Burmese and Khmer, kana and Chinese characters.
# What comes apart into more than twice as many letters is cut off.
#
# normalize() takes the square of the time for marks in a row, and cannot be interrupted. So a row of
# what may be marks, which is all that Unicode has after the Latin letters, is broken by spaces.
_WORDS = r"""
CREATE FUNCTION conversations_words(account uuid, content text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT strip(to_tsvector('simple'::regconfig, regexp_replace(regexp_replace(
               left(normalize(regexp_replace(
                   replace(replace(lower(normalize(
                       regexp_replace(' ' || left(content, 20000), '([^\u0001-\u02ff]{64})', '\1 ', 'g'),
                   NFKD)), 'ß', 'ss'), 'ς', 'σ'),
                   '[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670]', '', 'g'
               ), NFC), 40000),
               '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])',
               ' \1 ', 'g'),
               '[^[:alnum:]]+', ' x' || right(account::text, 2), 'g'
           ))) || array_to_tsvector(ARRAY[account::text])
$$
"""

# Statistics of words would be made of 30,000 messages by each ANALYZE, and are used by no query:
# conversations/sql/10_search.sql.
_NO_STATISTICS = """
ALTER INDEX conversation_words ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX message_words ALTER COLUMN 1 SET STATISTICS 0;
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
        migrations.RunSQL(_NO_STATISTICS, migrations.RunSQL.noop),
    ]
