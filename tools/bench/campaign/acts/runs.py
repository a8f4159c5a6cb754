"""Project runs: one is started, followed on a socket, and perhaps paused or cancelled."""

import json
import time
from collections.abc import Sequence
from typing import Any

from bench.campaign.acts.following import Following, start
from bench.campaign.asking import Asker
from projects.tests.principal import RUN, STEPS, part

_SOON = 1.5  # seconds

Creation = tuple[str, dict[str, Any]]


def run(asker: Asker) -> None:
    begin_and_follow(asker, *creation(asker))


def begin_and_follow(asker: Asker, path: str, body: dict[str, Any]) -> None:
    """To its end, over whatever is done to it before."""
    note, options = asker.note, asker.note.act.options
    run_id = start(asker, path, body)
    if run_id is None:
        return
    note.seen["run"] = run_id
    with Following(asker, RUN, run_id) as following:
        if then := options["then"]:
            time.sleep(_SOON)
            asker.ask("POST", f"{following.path}/control", {"action": then})
        picture = following.wait_until_idle()
        if picture is not None and picture["status"] == "paused":
            asker.ask("POST", f"{following.path}/control", {"action": "resume"})
            picture = following.wait_until_idle()
        note.seen["picture"] = picture


def creation(asker: Asker, *, writes: Sequence[str] = (), **where: str) -> Creation:
    """How the run is begun; on a repository each of its parts writes these files."""
    options = asker.note.act.options
    fields = {"writes": [*writes]} if writes else {}
    parts = [part("abc"[number], **fields) for number in range(options["parts"])]
    plan = json.dumps({"title": "Sea", "summary": "All of it.", "subtasks": parts})
    lines: list[dict[str, Any]] = [{"step": step, **options["steering"]} for step in STEPS]
    lines[0] = {"step": "plan", "text": plan}
    # Reviews, replies and files have a form.
    formed = {"review", "reply", *(["work"] if writes else [])}
    for line in lines:
        if line["step"] in formed:
            line.pop("tokens")
    body = {"prompt": asker.prompt("Write about the sea.", *lines), "max_parallel": 2, **where}
    return f"{RUN.path}/sessions", body
