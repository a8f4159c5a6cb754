"""Demo conversations: four, one of them in a space, and one with an answer in two versions.

They are written as web processes write replies, with the money functions, and with the answers that
stand here: no provider is called, and nothing is spent at one.
"""

from typing import Final
from uuid import uuid4

from django.db import transaction
from msgspec import Struct

from accounts.models import User
from ai.catalog.pricing import token_cost
from ai.catalog.types import TokenPrice
from ai.generations.endings import conclude
from ai.generations.types import Completion
from ai.providers.token_estimate import estimate_text
from ai.providers.tokens import estimate_input
from billing.types import Ending
from conversations.models import Conversation, Message
from conversations.services import conversations, sending, spaces
from conversations.services.completion import REPLY
from conversations.services.preparation import (
    PreparedReply,
    prepare_message,
    prepare_regeneration,
)
from demo.gallery import is_simulated


class _Turn(Struct, frozen=True):
    """A question and its answer; `again`: how the same model answers it once more."""

    question: str
    answer: str
    again: str = ""


class _Talk(Struct, frozen=True):
    """A conversation with a model."""

    title: str
    model: str
    turns: tuple[_Turn, ...]
    space: str = ""
    pinned: bool = False


SPACE: Final = "Bicycle bags"
TALKS: Final = (
    _Talk(
        "Words for the web shop",
        "gpt-6-luna",
        (
            _Turn(
                "Describe a bicycle bag of waxed canvas in two sentences.",
                "Waxed canvas sheds the rain and grows more handsome with every winter. It holds a "
                "day's work, a loaf of bread, and whatever the way home has to offer.",
                again="Twenty litres of waxed canvas, sewn to outlast the bicycle. It clicks on "
                "with one hand, and stays dry when you do not.",
            ),
        ),
        space=SPACE,
    ),
    _Talk(
        "Ten days along the coast of Norway",
        "claude-haiku-5-5",
        (
            _Turn(
                "Two people, ten days in June, by train and ferry. Where do we stop?",
                "Five stops leave time to stay:\n\n"
                "| Days | Stop | How you get there |\n"
                "|---|---|---|\n"
                "| 1-2 | Bergen | night train from Oslo |\n"
                "| 3-4 | Ålesund | coastal ferry |\n"
                "| 5-6 | Trondheim | ferry, then train |\n"
                "| 7-8 | Bodø | Nordland railway |\n"
                "| 9-10 | Lofoten | ferry to Moskenes |\n\n"
                "**Book the night train first**: it sells out weeks ahead. In June it does not get "
                "dark north of Bodø, so bring something to cover your eyes.",
            ),
            _Turn(
                "What does it cost, roughly?",
                "About **1,900 euros** for both of you:\n\n"
                "- trains and ferries: 620\n"
                "- nine nights in simple rooms: 1,000\n"
                "- the rest for food, if you cook every other day\n\n"
                "The ferry to Moskenes is the part that you cannot book late.",
            ),
        ),
    ),
    _Talk(
        "Sum a column by month",
        "gpt-6-luna",
        (
            _Turn(
                "How do I sum the column `amount` of a CSV file by month, without pandas?",
                "With `csv` and a `Counter`:\n\n"
                "```python\n"
                "import csv\n"
                "from collections import Counter\n"
                "from decimal import Decimal\n\n\n"
                "def by_month(path: str) -> dict[str, Decimal]:\n"
                '    """The sums of `amount`, by months like 2026-11."""\n'
                "    sums: Counter[str] = Counter()\n"
                '    with open(path, newline="", encoding="utf-8") as file:\n'
                "        for row in csv.DictReader(file):\n"
                '            sums[row["date"][:7]] += Decimal(row["amount"])\n'
                "    return dict(sorted(sums.items()))\n"
                "```\n\n"
                "`Decimal` keeps the cents exact; the slice works for dates like `2026-11-29`.",
            ),
        ),
    ),
    _Talk(
        "Why the sea is blue",
        "gpt-6-luna",
        (
            _Turn(
                "Why is the sea blue, and how much light is left at ten metres?",
                "Water absorbs red light first, so that blue is what comes back. How much is left "
                "follows the law of Beer and Lambert:\n\n"
                "$$I(z) = I_0 \\, e^{-kz}$$\n\n"
                "In clear ocean water $k$ is about $0.05$ per metre for blue light and $0.35$ for "
                "red. At ten metres some **60 %** of the blue is left, and **3 %** of the red.",
            ),
        ),
        pinned=True,
    ),
)


@transaction.atomic
def write_conversations(user: User) -> int:
    """Write the demo conversations of a user who has none; nothing of providers that are not
    simulated. Returns how many."""
    if Conversation.objects.filter(account=user).exists():
        return 0
    talks = [talk for talk in TALKS if is_simulated(talk.model)]
    for talk in talks:
        _write(user, talk)
    return len(talks)


def _write(user: User, talk: _Talk) -> None:
    space = spaces.create(user=user, name=talk.space) if talk.space else None
    conversation = conversations.create(
        user=user, title=talk.title, model=talk.model, space_id=space.pk if space else None
    )
    for turn in talk.turns:
        conversation.refresh_from_db()
        question = _answer(prepare_message(user, conversation, content=turn.question), turn.answer)
        if turn.again:
            conversation.refresh_from_db()
            _answer(prepare_regeneration(user, conversation, question), turn.again)
    if talk.pinned:
        conversations.update(user=user, conversation_id=conversation.pk, pinned=True)


def _answer(prepared: PreparedReply, text: str) -> Message:
    """Have a message answered as a web process does, with this text. Returns the message."""
    started = sending.start(prepared=prepared, request_key=None, owner_id=uuid4(), request_id="")
    assert isinstance(started, sending.StartedReply)  # noqa: S101 - no request was sent before
    price = prepared.model.price
    assert isinstance(price, TokenPrice)  # noqa: S101 - a chat model
    tokens = (estimate_input(started.call.messages), estimate_text(text))
    reply_id = started.reply.pk
    conclude(
        REPLY,
        call_id=reply_id,
        attempt=started.job.attempt,
        ending=Ending(
            reply_id,
            prepared.user.pk,
            "settled",
            token_cost(price, *tokens),
            {"tokens_in": tokens[0], "tokens_out": tokens[1]},
        ),
        completion=Completion(content=text, finish_reason="stop"),
    )
    return started.question
