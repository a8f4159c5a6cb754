"""A price version that is not in force yet has billed nothing: it may be deleted.

The last minute before it is in force is left out, so that none can be deleted under a call: what was
decided before would be committed after.
"""

from django.db import migrations

ALLOW_BEFORE = """
CREATE OR REPLACE FUNCTION catalog_refuse_price_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.valid_from > clock_timestamp() + interval '1 minute' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'a price version never changes; add a new one'
        USING ERRCODE = 'restrict_violation';
END
$$;
"""

FORBID = """
CREATE OR REPLACE FUNCTION catalog_refuse_price_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a price version never changes; add a new one'
        USING ERRCODE = 'restrict_violation';
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0003_bounded_prices")]

    operations = [migrations.RunSQL(ALLOW_BEFORE, FORBID)]
