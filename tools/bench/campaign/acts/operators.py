"""Operators: refunds, and the deletion of an account's data. What fails with the database is done
again."""

from collections.abc import Callable
from uuid import UUID

from django.db import DatabaseError, connection

from accounts.models import User
from bench.campaign.asking import Asker
from billing.errors import ChargeRunning, NothingToRefund, RefundTooLarge
from billing.models import Charge
from billing.services import balance
from common.ids import uuid7
from privacy.services import deletions


def refund(asker: Asker) -> None:
    """Give back a part of a charge, or all of it. An earlier refund may have left less."""
    operation_id = uuid7()
    _retry(asker, lambda: _refund(asker, operation_id))


def _refund(asker: Asker, operation_id: UUID) -> None:
    charge = Charge.objects.filter(
        account=asker.person.user_id, status="settled", charge_balance__gt=0
    ).first()
    if charge is None:
        return
    amount = charge.charge_balance // asker.note.act.options["share"] or 1
    try:
        refunded = balance.refund(
            operation_id=operation_id, charge=charge, reason="campaign", amount=amount
        )
    except (NothingToRefund, RefundTooLarge, ChargeRunning):
        return
    asker.note.seen["refunded"] = refunded.to_balance


def delete_account(asker: Asker) -> None:
    """Ask for the deletion of the data of the account."""

    def request() -> None:
        deletions.request(user=User.objects.get(pk=asker.person.user_id))

    _retry(asker, request)
    asker.note.seen["departed"] = True


def look_for_account(asker: Asker) -> None:
    """The account answers nobody. Raises Departed."""
    answer = asker.ask("GET", "/api/users/me")
    asker.note.wrong.append(f"a closed account is answered {answer.status_code}")


def _retry(asker: Asker, what: Callable[[], object]) -> None:
    """Repeat what fails with the database until it is done. Raises GaveUp."""
    while True:
        try:
            what()
        except DatabaseError:
            connection.close()
            asker.pause()
        else:
            return
