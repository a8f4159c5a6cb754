"""A price version is a promise that calls were billed by: the database itself refuses to alter one.

TRUNCATE stays possible; it is how a test database is emptied.
"""

from django.db import migrations

FORBID = """
CREATE FUNCTION catalog_refuse_price_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a price version never changes; add a new one'
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER catalog_price_never_changes
    BEFORE UPDATE OR DELETE ON catalog_priceversion
    FOR EACH ROW EXECUTE FUNCTION catalog_refuse_price_change();
"""

ALLOW = """
DROP TRIGGER catalog_price_never_changes ON catalog_priceversion;
DROP FUNCTION catalog_refuse_price_change();
"""


class Migration(migrations.Migration):
    dependencies = [("catalog", "0001_initial")]

    operations = [migrations.RunSQL(FORBID, ALLOW)]
