"""Removes the address of a deleted account from the audit log."""

from collections.abc import Iterable

from django.db import connection, transaction

from accounts.models import User

# The trigger of the audit log lets exactly this change pass (accounts/migrations/0002).
_REWRITE = """
UPDATE django_admin_log
SET object_repr = left(accounts_without_address(object_repr, %(address)s), 200),
    change_message = accounts_without_address(change_message, %(address)s)
WHERE accounts_without_address(object_repr, %(address)s) <> object_repr
    OR accounts_without_address(change_message, %(address)s) <> change_message
"""


@transaction.atomic
def erase_from_audit_log(user: User, _: str) -> Iterable[str]:
    """Replace the address wherever the audit log names it, in one part; the entries stay."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('accounts.erased_address', %s, true)", (user.email,))
        cursor.execute(_REWRITE, {"address": user.email})
        cursor.execute("SELECT set_config('accounts.erased_address', '', true)")
    return ()
