"""People ask for all their data, and read what they get."""

import json
from io import BytesIO
from zipfile import ZipFile

from bench.campaign.asking import Asker

EXPORTS = "/api/users/me/export"


def export(asker: Asker) -> None:
    """Ask for an export, wait for it, and look into it. At most three are made in a day."""
    note = asker.note
    asked = asker.ask("POST", EXPORTS)
    if not asked.is_success:
        note.seen["refusal"] = asked.json()["code"]
        return
    while (shown := asker.ask("GET", EXPORTS).json())["status"] in ("queued", "running"):
        asker.pause()
    if shown["status"] != "completed":
        note.seen["refusal"] = f"export {shown['status']}"
        return
    url = shown["url"]
    file = asker.ask("GET", f"/files/{url.partition('/files/')[2]}")
    # A newer one takes its place.
    if file.status_code == 200:
        note.wrong += problems(file.content, asker.person.email)


def problems(archive: bytes, email: str) -> list[str]:
    """What is wrong with an export of the person with that address."""
    with ZipFile(BytesIO(archive)) as opened:
        if broken := opened.testzip():
            return [f"{broken} in the export is broken"]
        [user] = opened.read("data/accounts.user.jsonl").splitlines()
        counted = json.loads(opened.read("manifest.json"))["rows"]
        found = {
            name: len(opened.read(f"data/{name}.jsonl").splitlines())
            for name, count in counted.items()
            if count
        }
    wrong = [] if json.loads(user)["email"] == email else ["the export is somebody else's"]
    if found != {name: count for name, count in counted.items() if count}:
        wrong.append(f"the export has {found}, its manifest counts {counted}")
    return wrong
