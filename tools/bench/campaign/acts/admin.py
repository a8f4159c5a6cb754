"""Operators in the admin, over HTTP: they adjust a balance, and switch a provider off and on."""

import re
import time
from html import unescape

import httpx

from bench.campaign.asking import Asker, Departed
from common.errors import ServiceUnavailable
from common.money import NUSD_PER_CENT

_CSRF = "c" * 32
_OPERATION = re.compile(r'name="operation" value="([^"]+)"')


def adjust(asker: Asker) -> None:
    """Add to a balance. The form is sent again until it is answered, and is good for one entry."""
    cents = asker.note.act.options["cents"]
    path = f"billing/wallet/{asker.person.user_id}/adjust/"
    page = _ask(asker, "GET", path)
    found = _OPERATION.search(page.text)
    if found is None:
        _note_refusal(asker, path, page)
        return
    form = {"amount": f"{cents / 100:.2f}", "operation": unescape(found[1])}
    if _send(asker, path, form):
        asker.note.seen["adjusted"] = cents * NUSD_PER_CENT


def switch_provider_off_and_on(asker: Asker) -> None:
    """Switch a provider off, and on again after the seconds of the act."""
    options = asker.note.act.options
    path = f"health/provider/{options['provider']}"
    _send(asker, f"{path}/switch_off/", {})
    time.sleep(options["seconds"])
    _send(asker, f"{path}/switch_on/", {})


def _send(asker: Asker, path: str, form: dict[str, str]) -> bool:
    """Send the form of an act with a reason, until it is answered. Is it carried out?"""
    while True:
        answer = _ask(asker, "POST", path, {**form, "reason": asker.note.marker})
        if answer.status_code == 302:
            return True
        # The page again, with the reason why not.
        if ServiceUnavailable.message not in unescape(answer.text):
            _note_refusal(asker, path, answer)
            return False
        asker.pause()


def _note_refusal(asker: Asker, path: str, answer: httpx.Response) -> None:
    """Of an account that may be closed anything is refused. Raises Departed."""
    if asker.departs:
        raise Departed
    asker.note.wrong.append(f"/admin/{path}: {answer.status_code}, {answer.text[:500]}")


def _ask(
    asker: Asker, method: str, path: str, form: dict[str, str] | None = None
) -> httpx.Response:
    cookies = f"sessionid={asker.endpoints.operator}; csrftoken={_CSRF}"
    headers = {"Cookie": cookies, "X-CSRFToken": _CSRF}
    answer = asker.ask(method, f"/admin/{path}", form=form, headers=headers)
    assert "login" not in answer.headers.get("Location", ""), "the operator is signed out"
    return answer
