"""A demo gallery: pictures, a clip that is extended, a 3D asset, and a job that fails.

The jobs are ordered as a user orders them, of simulated providers alone, and workers carry them
out: nothing is spent at a provider.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from msgspec import Struct

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.providers.config import SIMULATED_KEY
from studios.models import Generation
from studios.preparation import prepare, prepare_extension
from studios.services.ordering import place
from studios.types import Kind, Status


class _Piece(Struct, frozen=True):
    """An order of the gallery."""

    kind: Kind
    model: str
    prompt: str
    params: Mapping[str, Any] = {}


CLIP: Final = _Piece(
    Kind.VIDEO,
    "veo-3.1",
    "A lighthouse at dusk, seen from a boat that comes closer.",
    {"seconds": 4, "audio": False},
)
EXTENSION: Final = "The light goes on, and the boat passes by."
PIECES: Final = (
    _Piece(Kind.IMAGE, "gpt-image-2.5-flare", "A bicycle bag of waxed canvas.", {"n": 2}),
    CLIP,
    _Piece(Kind.ASSET, "meshy-6", "A small teapot of green clay."),
    _Piece(Kind.IMAGE, "flux-2-pro", 'A city of glass.\n@sim {"blocked": true}'),
)


@transaction.atomic
def order_gallery(user: User) -> list[Generation]:
    """Order the gallery of a user who has no jobs; nothing of providers that are not simulated.
    Returns the jobs.

    Raises what `studios.preparation.prepare` and `studios.services.ordering.place` do.
    """
    if Generation.objects.filter(account=user).exists():
        return []
    return [_order(user, piece) for piece in PIECES if is_simulated(piece.model)]


def find_clip(jobs: list[Generation]) -> UUID | None:
    """The clip of the gallery that is to be extended."""
    return next((job.pk for job in jobs if job.kind == Kind.VIDEO), None)


def extend(clip_id: UUID) -> bool:
    """Extend the clip, once. False while it is not finished."""
    clip = Generation.objects.select_related("account").filter(pk=clip_id, deleted_at=None).first()
    if clip is None or clip.status in (Status.FAILED, Status.CANCELLED) or clip.children.exists():
        return True
    if clip.status != Status.COMPLETED:
        return False
    extension = prepare_extension(user=clip.account, clip=clip, prompt=EXTENSION, seconds=None)
    place(prepared=extension, request_key=None)
    return True


def _order(user: User, piece: _Piece) -> Generation:
    ordered = prepare(
        user=user, kind=piece.kind, model=piece.model, prompt=piece.prompt, values=piece.params
    )
    placed, _ = place(prepared=ordered, request_key=None)
    return placed.generation


def is_simulated(model_id: str) -> bool:
    """Is the provider of this model the simulator, so that a call costs nothing?"""
    model = get_catalog().find(model_id)
    provider = settings.PROVIDERS.get(model.provider) if model else None
    return provider is not None and provider.api_key == SIMULATED_KEY
