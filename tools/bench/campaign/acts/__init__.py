"""The acts of a life, by their kinds: each is what a client of one product does."""

from collections.abc import Callable
from types import MappingProxyType

from bench.campaign.acts import (
    accounts,
    admin,
    calls,
    councils,
    drives,
    exports,
    operators,
    replies,
    repositories,
    runs,
    studios,
    teams,
    uploads,
)
from bench.campaign.asking import Asker

ACTS: MappingProxyType[str, Callable[[Asker], None]] = MappingProxyType(
    {
        "chat": calls.chat,
        "embeddings": calls.embeddings,
        "picture_call": calls.picture,
        "transcript": uploads.transcript,
        "reply": replies.reply,
        "upload": uploads.upload,
        "drive": drives.import_from_drive,
        "council": councils.council,
        "run": runs.run,
        "repository": repositories.run_on_repository,
        "picture": studios.order,
        "film": studios.order,
        "asset": studios.order,
        "topup": accounts.topup,
        "upgrade": accounts.upgrade,
        "revocation": accounts.revocation,
        "invitation": accounts.invitation,
        "refund": operators.refund,
        "adjustment": admin.adjust,
        "switch": admin.switch_provider_off_and_on,
        "export": exports.export,
        "shared space": teams.share,
        "departure": operators.delete_account,
    }
)
