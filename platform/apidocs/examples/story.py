"""The story that all examples tell: the same ids, people, texts and times in every operation.

Alice asks about the tides, lets a council and a run of several models work on a guide to them, and
has its cover drawn. Bob is a member of her team.
"""

from typing import Any

AT = "2026-11-25T10:00:00.000000Z"
SOON = "2026-11-25T10:00:09.000000Z"
NEXT_WEEK = "2026-12-02T10:00:00.000000Z"

_THINGS = [
    "user",
    "bob",
    "other_transaction",
    "session",
    "team",
    "invite",
    "audit",
    "key",
    "transaction",
    "charge",
    "conversation",
    "message",
    "reply",
    "upload",
    "space",
    "card",
    "other_card",
    "turn",
    "council",
    "card_message",
    "entry",
    "connector",
    "workspace",
    "run",
    "subtask",
    "deliverable",
    "apply",
    "image_job",
    "video_job",
    "asset_job",
    "next_job",
    "export",
]
ID = {
    thing: f"01a21225-d900-7000-8000-{number:012}" for number, thing in enumerate(_THINGS, start=1)
}

CHAT, OTHER_CHAT = "gpt-6-luna", "claude-sonnet-5-5"
QUESTION = "Why are there two high tides a day?"
ANSWER = (
    "Because the moon pulls the water on its side towards it, and the earth away from the water "
    "on the other side. The earth turns below both bulges once a day."
)
SUMMARY = "Two bulges of water, below which the earth turns."
GUIDE = "# Tides\n\n" + ANSWER + "\n"
REFRESH_TOKEN = "rt_4vXb2Vv0r3gkqJmH1nq8yQ"  # noqa: S105 - nobody's
FAILURE = "The model's provider failed before it answered. Nothing was billed; try again."
INSTRUCTIONS = "Explain it in two sentences, without formulas."
PICTURE_PROMPT = "A lighthouse at dusk, in watercolours."
LINK = "https://example.com/files/lighthouse.png?expires=1795687200&signature=Zm9vYmFy"
CLIP_LINK = "https://example.com/files/lighthouse.mp4?expires=1795687200&signature=cXV4"
UPLOAD_LINK = "https://example.com/files/uploads/tide-table?expires=1795687200&signature=YmF6"
COMMIT = "6f1ed002ab5595859014ebf0951522d9bb3f8a4c"
USAGE = {
    "input_tokens": 24,
    "output_tokens": 96,
    "reasoning_tokens": 0,
    "cached_tokens": 0,
    "total_tokens": 120,
    "listed_usd": 0.0001704,
    "paid_by_plan_usd": 0.0001704,
    "paid_by_balance_usd": 0,
}


class Like:
    """The example of a component, or another such, with some of its fields changed."""

    def __init__(self, base: "str | Like", **changes: Any) -> None:
        self.component: str = base if isinstance(base, str) else base.component
        self.changes: dict[str, Any] = {} if isinstance(base, str) else base.changes
        self.changes = self.changes | changes
