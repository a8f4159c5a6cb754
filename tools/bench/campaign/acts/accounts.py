"""Money and rights: top-ups, changes of plan, keys and invitations."""

from bench.campaign.acts.calls import CHAT, chat_body
from bench.campaign.asking import Asker
from common.money import NUSD_PER_CENT


def topup(asker: Asker) -> None:
    note, cents = asker.note, asker.note.act.options["cents"]
    answer = asker.ask("POST", "/api/billing/topup", {"amount_usd": cents / 100}, name=note.name)
    assert answer.is_success, answer.text
    note.seen["topped up"] = cents * NUSD_PER_CENT


def upgrade(asker: Asker) -> None:
    body = {"plan": asker.note.act.options["plan"]}
    answer = asker.ask("POST", "/api/billing/upgrade", body, name=asker.note.name)
    assert answer.status_code in (200, 409), answer.text


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
