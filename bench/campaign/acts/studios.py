"""Studios: jobs are ordered and polled, and their files are fetched."""

import time
from typing import Any

from bench.campaign.acts.following import start
from bench.campaign.asking import Asker

_POLL = 0.5  # seconds
ENDED = ("completed", "failed", "cancelled")


def picture(asker: Asker) -> None:
    _order(asker, "/api/images", {"model": "gpt-image-2.5-flare"})


def film(asker: Asker) -> None:
    _order(asker, "/api/videos", {"model": "gen4.5", "seconds": 2})


def _order(asker: Asker, path: str, body: dict[str, Any]) -> None:
    note = asker.note
    body = {"prompt": asker.prompt("A lighthouse at dusk."), **body}
    job_id = start(asker, path, body, f"{note.name}")
    if job_id is None:
        return
    note.seen["job"] = job_id
    while True:
        answer = asker.ask("GET", f"/api/jobs/{job_id}")
        assert answer.status_code == 200, answer.text
        if answer.json()["status"] in ENDED:
            break
        asker.pause()
        time.sleep(_POLL)
    note.seen["shown"] = answer.json()
