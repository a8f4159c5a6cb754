"""Councils: one is held, followed on a socket, and goes on."""

from typing import Any

from bench.campaign.acts.following import Following, start
from bench.campaign.asking import Asker
from council.tests.owner import COUNCIL, MODELS


def council(asker: Asker) -> None:
    note, options = asker.note, asker.note.act.options
    session_id = start(asker, *creation(asker))
    if session_id is None:
        return
    note.seen["session"] = session_id
    with Following(asker, COUNCIL, session_id) as following:
        picture = following.wait_until_idle()
        if picture is not None and options["then"]:
            _go_on(asker, following, picture["cards"][0]["id"])
            picture = following.wait_until_idle()
        note.seen["picture"] = picture


def creation(asker: Asker) -> tuple[str, dict[str, Any]]:
    """How the council is begun."""
    models = MODELS[: asker.note.act.options["models"]]
    body = {"prompt": asker.prompt("How deep is the sea?"), "models": models}
    return f"{COUNCIL.path}/sessions", body


def _go_on(asker: Asker, following: Following, card_id: str) -> None:
    """Have a card written again, or the answers merged. It may be refused: a merge needs two."""
    name = f"{asker.note.name}-again"
    if asker.note.act.options["then"] == "merge":
        asker.ask("POST", f"{following.path}/merge", {"mode": "fuse"}, name=name)
    else:
        asker.ask("POST", f"{COUNCIL.path}/cards/{card_id}/regenerate", {}, name=name)
