"""Money and rights: top-ups, changes of plan, refunds, keys and invitations."""

import time
from uuid import UUID

from django.db import DatabaseError, connection

from bench.campaign.acts.calls import CHAT, chat_body
from bench.campaign.asking import Asker
from billing.errors import ChargeRunning, NothingToRefund, RefundTooLarge
from billing.models import Charge
from billing.services import balance
from common.ids import uuid7
from common.money import NUSD_PER_CENT

_PAUSE = 0.3


def topup(asker: Asker) -> None:
    note, cents = asker.note, asker.note.act.options["cents"]
    answer = asker.ask("POST", "/api/billing/topup", {"amount_usd": cents / 100}, name=note.name)
    assert answer.is_success, answer.text
    note.seen["topped up"] = cents * NUSD_PER_CENT


def upgrade(asker: Asker) -> None:
    body = {"plan": asker.note.act.options["plan"]}
    answer = asker.ask("POST", "/api/billing/upgrade", body, name=asker.note.name)
    assert answer.status_code in (200, 409), answer.text


def refund(asker: Asker) -> None:
    """An operator gives back a part of a charge, or all of it, in as many attempts as it takes. An
    earlier refund may have left less."""
    operation_id: UUID = uuid7()
    while True:
        try:
            charge = Charge.objects.filter(
                account=asker.person.user_id, status="settled", charge_balance__gt=0
            ).first()
            if charge is None:
                return
            amount = charge.charge_balance // asker.note.act.options["share"] or 1
            refunded = balance.refund(
                operation_id=operation_id, charge=charge, reason="campaign", amount=amount
            )
        except (NothingToRefund, RefundTooLarge, ChargeRunning):
            return
        except DatabaseError:
            connection.close()
            asker.pause()
            time.sleep(_PAUSE)
            continue
        asker.note.seen["refunded"] = refunded.to_balance
        return


def revocation(asker: Asker) -> None:
    """A key that is revoked is refused from the next request on."""
    made = asker.ask("POST", "/api/keys", {"name": asker.note.marker})
    if made.status_code != 201:
        asker.note.seen["refusal"] = made.json()["code"]
        return
    key = made.json()
    body = chat_body(asker)
    asker.ask("POST", CHAT, body, key=key["key"])
    revoked = asker.ask("DELETE", f"/api/keys/{key['id']}")
    assert revoked.status_code in (200, 204, 404), revoked.text
    answer = asker.ask("POST", CHAT, body, key=key["key"])
    if answer.status_code != 401:
        asker.note.wrong.append(f"a revoked key is answered {answer.status_code}")


def invitation(asker: Asker) -> None:
    asker.ask("POST", "/api/teams/me", {"name": "Crew"})
    address = f"{asker.note.marker}@example.com"
    sent = asker.ask("POST", "/api/teams/me/invites", {"email": address})
    if sent.status_code == 201:
        asker.note.seen["invited"] = address
    else:
        asker.note.seen["refusal"] = sent.json()["code"]


def look_for_invitation(asker: Asker) -> None:
    """An invitation that was answered is there."""
    invites = asker.ask("GET", "/api/teams/me/invites")
    addresses = [each["email"] for each in invites.json()] if invites.is_success else []
    if asker.note.seen["invited"] not in addresses:
        asker.note.wrong.append(f"the invitation is not among {addresses}")
