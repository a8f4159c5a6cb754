"""The acts of a life, by their kinds: each is what a client of one product does."""

from collections.abc import Callable
from types import MappingProxyType

from bench.campaign.acts import accounts, calls, councils, departures, replies, runs, studios
from bench.campaign.asking import Asker

ACTS: MappingProxyType[str, Callable[[Asker], None]] = MappingProxyType(
    {
        "chat": calls.chat,
        "embeddings": calls.embeddings,
        "picture_call": calls.picture,
        "reply": replies.reply,
        "council": councils.council,
        "run": runs.run,
        "picture": studios.order,
        "film": studios.order,
        "topup": accounts.topup,
        "upgrade": accounts.upgrade,
        "refund": accounts.refund,
        "revocation": accounts.revocation,
        "invitation": accounts.invitation,
        "departure": departures.departure,
    }
)
