"""Generation jobs for their owner."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from msgspec import Struct

from accounts.models import User
from ai.catalog.selectors import get_catalog
from billing.selectors.charges import ChargeState, get_states
from common.errors import NotFound
from media.files.models import StoredFile
from media.files.selectors.links import steady_url
from studios.models import Generation, GenerationOutput
from studios.types import Kind, Status

# The places of waiting jobs among those that workers of the same queue take before them.
_PLACES = """
SELECT waiting.id, (
    SELECT count(*) FROM jobs_job AS other
    WHERE other.queue = waiting.queue AND other.status = 'queued'
      AND other.queued_at < waiting.queued_at
) FROM jobs_job AS waiting WHERE waiting.id = ANY(%s) AND waiting.status = 'queued'
"""


class OutputView(Struct, frozen=True, kw_only=True):
    """A result. `output` is its place among those of its job, from 0; `url` and `thumbnail_url` are
    signed links, null where the file is gone; `size` is in bytes."""

    output: int
    url: str | None
    thumbnail_url: str | None
    media_type: str | None
    size: int | None
    width: int | None
    height: int | None
    seconds: float | None
    seed: int | None
    starred: bool


class JobView(Struct, frozen=True, kw_only=True):
    """A job as its owner sees it. `queue_position` is how many jobs are before it, None once it has
    begun. Of its charge: what is held (None once it has ended) and what was billed (None before),
    in nano-USD. `can_extend`: it is a clip that its model can let go on."""

    generation: Generation
    outputs: list[OutputView] = []
    queue_position: int | None = None
    held: int | None = None
    billed: int | None = None
    is_refunded: bool = False
    can_extend: bool = False


def list_jobs(
    user: User,
    kind: str = "",
    *,
    stage: str = "",
    q: str = "",
    status: str = "",
    model: str = "",
    starred: bool | None = None,
) -> QuerySet[Generation]:
    """The user's jobs, filtered by kind, the `stage` that was ordered, a part of the prompt (`q`),
    status, model and star, if these are given. `starred` is a job that has a star itself or has a
    starred result."""
    owned = _live(user)
    if kind:
        owned = owned.filter(kind=kind)
    if stage:
        owned = owned.filter(params__stage=stage)
    if q:
        owned = owned.filter(prompt__icontains=q)
    if status:
        owned = owned.filter(status=status)
    if model:
        owned = owned.filter(model=model)
    if starred is not None:
        results = GenerationOutput.objects.filter(generation=OuterRef("pk"), starred=True)
        has_star = Q(starred=True) | Exists(results)
        owned = owned.filter(has_star if starred else ~has_star)
    return owned


def get_job(user: User, job_id: UUID, kind: Kind | None = None) -> Generation:
    """The user's job, of that kind if one is given. Raises NotFound."""
    owned = _live(user).filter(pk=job_id)
    generation = (owned.filter(kind=kind) if kind else owned).first()
    if generation is None:
        raise NotFound
    return generation


def get_any_job(user: User, job_id: UUID) -> Generation:
    """The user's job, also one that was deleted at its provider. Raises NotFound."""
    generation = Generation.objects.filter(account=user, pk=job_id).first()
    if generation is None:
        raise NotFound
    return generation


def view_of(generation: Generation) -> JobView:
    """A job as the transaction sees it."""
    [view] = views_of([generation])
    return view


def views_of(generations: Sequence[Generation]) -> list[JobView]:
    """Jobs with their results, places and costs. At most three queries."""
    states = get_states([each.pk for each in generations])
    places = _places([each.pk for each in generations if each.status == Status.QUEUED])
    outputs = _outputs([each.pk for each in generations if each.status == Status.COMPLETED])
    return [
        _view(each, outputs.get(each.pk, []), places.get(each.pk), states.get(each.pk))
        for each in generations
    ]


def count_open(user: User) -> int:
    """The number of the user's jobs that have not ended, hidden ones included."""
    return Generation.objects.filter(account=user, ended_at=None).count()


def _live(user: User) -> QuerySet[Generation]:
    return Generation.objects.filter(account=user, deleted_at=None)


def _view(
    generation: Generation,
    outputs: list[OutputView],
    place: int | None,
    charge: ChargeState | None,
) -> JobView:
    is_open = generation.is_open
    return JobView(
        generation=generation,
        outputs=outputs,
        queue_position=place,
        held=charge.held if charge and is_open else None,
        billed=None if is_open else charge.billed if charge else 0,
        is_refunded=not is_open and charge is not None and charge.status == "released",
        can_extend=_can_extend(generation),
    )


def _can_extend(generation: Generation) -> bool:
    """Has its model room for the shortest extension?"""
    if generation.kind != Kind.VIDEO or generation.status != Status.COMPLETED:
        return False
    model = get_catalog().find(generation.model)
    extension = model.params.extension if model else None
    if extension is None or not generation.reference:
        return False
    return (generation.seconds or 0.0) + extension.seconds[0] <= extension.longest


def _places(job_ids: Sequence[UUID]) -> dict[UUID, int]:
    if not job_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, ([*job_ids],))
        return dict(cursor.fetchall())


def _outputs(generation_ids: Sequence[UUID]) -> dict[UUID, list[OutputView]]:
    if not generation_ids:
        return {}
    rows = GenerationOutput.objects.filter(generation__in=generation_ids)
    found: dict[UUID, list[OutputView]] = {}
    rows = rows.annotate(version=F("generation__account__token_version"))
    for row in rows.select_related("file", "thumbnail").order_by("generation", "position"):
        found.setdefault(row.generation_id, []).append(_output(row, row.version))
    return found


def _output(row: GenerationOutput, version: int) -> OutputView:
    """The links end when the account's tokens do: `version` is that of the tokens."""
    file = _unless_taken_down(row.file)
    thumbnail = _unless_taken_down(row.thumbnail)
    return OutputView(
        output=row.position,
        url=steady_url(file.name, version=version) if file else None,
        thumbnail_url=steady_url(thumbnail.name, version=version) if file and thumbnail else None,
        media_type=file.media_type if file else None,
        size=file.size if file else None,
        width=row.width,
        height=row.height,
        seconds=row.seconds,
        seed=row.seed,
        starred=row.starred,
    )


def _unless_taken_down(file: StoredFile | None) -> StoredFile | None:
    return file if file and file.taken_down_at is None else None
