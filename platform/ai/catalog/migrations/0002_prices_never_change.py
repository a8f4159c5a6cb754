"""A price version is a promise that calls were billed by: the database itself refuses to alter one.

One that is not in force yet has billed nothing: it may be deleted. The last minute before it is in
force is left out, so that none can be deleted under a call: what was decided before would be
committed after. TRUNCATE stays possible; it is how a test database is emptied.
"""

from django.db import migrations

FORBID = """
CREATE FUNCTION catalog_refuse_price_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.valid_from > clock_timestamp() + interval '1 minute' THEN
        RETURN OLD;
    END IF;
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
