"""When all is healed, named requests are sent once more: nothing happens twice. What was answered
is looked for."""

from collections.abc import Callable

from bench.campaign.acts import (
    accounts,
    calls,
    councils,
    operators,
    replies,
    repositories,
    runs,
    studios,
    teams,
    uploads,
)
from bench.campaign.acts.following import start
from bench.campaign.asking import Asker

_AGAIN: dict[str, Callable[[Asker], None]] = {
    **calls.AGAIN,
    "transcript": uploads.transcript,
    "reply": replies.send_again,
    "upload": replies.send_again,
    "repository": repositories.send_again,
    "topup": accounts.topup,
    "shared space": teams.send_again,
    "invitation": accounts.look_for_invitation,
    "departure": operators.look_for_account,
}
# Under what its id is noted, and how it was begun.
_BEGUN: dict[str, tuple[str, Callable[[Asker], runs.Creation]]] = {
    "council": ("session", councils.creation),
    "run": ("run", runs.creation),
    "picture": ("job", studios.creation),
    "film": ("job", studios.creation),
    "asset": ("job", studios.creation),
}


def ask_again(asker: Asker) -> None:
    note, kind = asker.note, asker.note.act.kind
    if kind in _AGAIN:
        _AGAIN[kind](asker)
    elif kind in _BEGUN:
        name, creation = _BEGUN[kind]
        # The name of what was not billed is free.
        shown = note.seen.get("picture") or note.seen.get("shown") or {}
        if shown.get("cost_usd"):
            again = start(asker, *creation(asker))
            if again != note.seen[name]:
                note.wrong.append(f"sent again it has begun {again}, before {note.seen[name]}")
