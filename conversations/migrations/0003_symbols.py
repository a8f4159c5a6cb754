"""Symbols are words of the search index, and each character of more scripts without spaces.

The new words are added to those that there are, except in the scripts that are newly without spaces
(Tai Le, New Tai Lue, Tai Tham, Tai Viet, bopomofo, and rare characters of the others): there each
character takes the place of a whole run. Until the indexes are rebuilt, which blocks nobody, a search
for a symbol, or for such characters in a row, misses earlier texts, and every other search finds what
it found. The release before lives with the new function, so that nothing is undone.

docs/operations/upgrade.md says how long it takes.
"""

from django.db import migrations

# Letters come without case and marks, as in conversations/snippets.py, and with a space around each
# that belongs to a script without spaces: Thai, Lao, Burmese, Khmer, Tai Le, New Tai Lue, Tai Tham,
# Tai Viet, kana, bopomofo and Chinese characters. What comes apart into more than twice as many
# letters is cut off.
#
# normalize() takes the square of the time for marks in a row, and cannot be interrupted. So a row of
# what may be marks, which is all that Unicode has after the Latin letters, is broken by spaces.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3040-\u312f\u31a0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaadf\U0001b000-\U0001b16f"
    r"\U00020000-\U0003ffff"
)
# Signs of Latin-1 and of currencies; arrows, mathematical and technical symbols, shapes, dingbats;
# hexagrams; musical symbols; tiles, cards and emoji. Not those that normalize() makes letters of,
# such as circled ones, and not the tones of skin, which are marks. ASCII's are punctuation.
_SYMBOLS = (
    r"\u00a2-\u00a7\u00a9\u00ac\u00ae\u00b0\u00b1\u00b6\u00d7\u00f7\u20a0-\u20a7\u20a9-\u20cf"
    r"\u2190-\u245f\u2500-\u2a73\u2a77-\u2bff\u4dc0-\u4dff\U0001d000-\U0001d1ff"
    r"\U0001f000-\U0001f0ff\U0001f150-\U0001f169\U0001f170-\U0001f18f\U0001f191-\U0001f1ff"
    r"\U0001f300-\U0001f3fa\U0001f400-\U0001fbef"
)
_FLAG = r"[\U0001f1e6-\U0001f1ff]{2}"
_WORDS = rf"""
CREATE OR REPLACE FUNCTION conversations_words(account uuid, content text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT strip(to_tsvector('simple'::regconfig, regexp_replace(regexp_replace(
               left(normalize(regexp_replace(
                   replace(replace(lower(normalize(
                       regexp_replace(' ' || left(content, 20000), '([^\u0001-\u02ff]{{64}})', '\1 ', 'g'),
                   NFKD)), 'ß', 'ss'), 'ς', 'σ'),
                   '[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670]', '', 'g'
               ), NFC), 40000),
               '([{_UNSPACED}])', ' \1 ', 'g'),
               '[^[:alnum:]]+', ' x' || right(account::text, 2), 'g'
           ))) || array_to_tsvector(account::text || array_remove(string_to_array(regexp_replace(
               regexp_replace(left(content, 20000), '[^{_SYMBOLS}]+', ' ', 'g'),
               '({_FLAG}|[{_SYMBOLS}])', ' x' || right(account::text, 2) || '\1', 'g'
           ), ' '), ''))
$$
"""


def _rebuilt(index: str) -> tuple[str, ...]:
    """What rebuilds an index, also where an earlier attempt was cut off: before its index took the
    place of the old one, or after."""
    return (
        f"DROP INDEX CONCURRENTLY IF EXISTS {index}_ccnew",
        f"DROP INDEX CONCURRENTLY IF EXISTS {index}_ccold",
        f"REINDEX INDEX CONCURRENTLY {index}",
    )


class Migration(migrations.Migration):
    atomic = False  # for indexes that are rebuilt concurrently

    dependencies = [("conversations", "0002_search")]

    operations = [
        migrations.RunSQL(statement, migrations.RunSQL.noop)
        for statement in (
            _WORDS,
            # It waits for the transactions that have begun before, and blocks none.
            "SET lock_timeout = '10min'",
            # PostgreSQL would carry on for a client that was killed, and the next attempt wait.
            "SET client_connection_check_interval = '5s'",
            *_rebuilt("conversation_words"),
            *_rebuilt("message_words"),
            "RESET client_connection_check_interval",
            "RESET lock_timeout",
        )
    ]
