"""A drive at another service is connected, and one of its files is imported."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench.campaign.asking import Asker

CONNECTORS = "/api/connectors"
_DRIVE = "google_drive"


def import_from_drive(asker: Asker) -> None:
    """Connect a drive by OAuth, and import one of its files.

    A connection or an import that was not answered is begun anew: a consent is finished once, and
    an import may leave an upload that expires.
    """
    note = asker.note
    content = f"Notes of {note.marker}.\n"
    file_id = asker.endpoints.simulator.drive.add_file(note.marker, "notes.txt", content)
    while (connector := _connect(asker)) is None:
        asker.pause()
    path = f"{CONNECTORS}/{connector['id']}/import"
    imported = asker.ask("POST", path, {"file_id": file_id})
    if imported.status_code == 201:
        note.seen["uploads"] = {imported.json()["id"]: content}
    else:
        note.seen["refusal"] = imported.json()["code"]
    shown = asker.ask("GET", f"{CONNECTORS}/{connector['id']}").json()
    if shown.get("login") != connector["login"]:
        note.wrong.append(f"was connected as {connector}, now: {shown}")


def _connect(asker: Asker) -> dict[str, Any] | None:
    """The connector; None where the consent is to be asked for anew."""
    asked = asker.ask("GET", f"{CONNECTORS}/{_DRIVE}/authorize")
    assert asked.status_code == 200, asked.text
    page, oauth = asked.json()["authorize_url"], asker.endpoints.simulator.oauth
    back = oauth.consent(page, login=asker.note.marker)
    location = urlsplit(back)
    brought = asker.ask("GET", f"{location.path}?{location.query}")
    query = parse_qs(urlsplit(brought.headers.get("Location", "")).query)
    if not {"state", "code"} <= query.keys():
        return None
    body = {name: query[name][0] for name in ("state", "code")}
    answer = asker.ask("POST", CONNECTORS, body)
    connector: dict[str, Any] = answer.json()
    return connector if answer.is_success else None
