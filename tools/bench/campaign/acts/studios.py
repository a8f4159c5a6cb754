"""Studios: jobs are ordered and polled, and their files are fetched."""

import time
from typing import Any

from bench.campaign.acts.following import start
from bench.campaign.asking import Asker

_POLL = 0.5  # seconds
ENDED = ("completed", "failed", "cancelled")


def order(asker: Asker) -> None:
    note = asker.note
    job_id = start(asker, *creation(asker))
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


def creation(asker: Asker) -> tuple[str, dict[str, Any]]:
    """How the job is ordered."""
    prompt = asker.prompt("A lighthouse at dusk.")
    match asker.note.act.kind:
        case "film":
            return "/api/videos", {"prompt": prompt, "model": "gen4.5", "seconds": 2}
        case "asset":
            return "/api/assets-3d/generate", {"prompt": prompt, "model": "meshy-6"}
    return "/api/images", {"prompt": prompt, "model": "gpt-image-2.5-flare"}
