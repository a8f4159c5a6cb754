"""Reads orders: what a user asks for, checked against what its model takes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from accounts.models import User
from ai.catalog.params import Extension
from ai.catalog.selectors import get_catalog
from ai.catalog.types import ImagePrice, Model, UnitPrice
from ai.provider_health.errors import ProviderNotAvailable
from billing.selectors.features import require_feature
from common.errors import DomainError, NotFound, ValidationFailed
from media.files.errors import Loc
from media.files.models import Upload
from studios.calls import Order, Terms
from studios.errors import CannotBeContinued, ClipTooLong, JobNotFinished, NothingToRetry
from studios.models import Generation
from studios.pictures import find_picture, names_in
from studios.selectors.jobs import get_job
from studios.types import FEATURES, Kind, Status

_CLIP_GONE = "The clip that this job was to extend has been deleted."
_AS_THE_CLIP = "An extension is made as its clip was: leave it out."
_PREVIEW_GONE = "The preview that this job was to refine has been deleted."


class PreparedOrder(Struct, frozen=True, kw_only=True):
    """An order that can be placed. `parent` is the job whose result it extends or refines, and
    `parent_gone` why the order is refused where that job is deleted meanwhile. `lead_seconds` are
    those of the clip that the result lacks: a provider may return the new part alone. `uploads` are
    those that `params` name, each at one of its `places`."""

    user: User
    kind: Kind
    model: Model
    prompt: str
    params: dict[str, Any]
    uploads: list[Upload]
    places: Mapping[UUID, Loc] = {}
    parent: Generation | None = None
    parent_gone: DomainError | None = None
    lead_seconds: float = 0.0

    @property
    def order(self) -> Order:
        """What is submitted, and kept with the operation."""
        return Order(
            model=self.model.id,
            provider=self.model.provider,
            upstream_model=self.model.upstream_model,
            prompt=self.prompt,
            params=self.params,
            terms=terms_of(self.model, self.params),
            continues=self.parent.reference if self.parent else "",
        )


def prepare(
    *, user: User, kind: Kind, model: str, prompt: str, values: Mapping[str, Any]
) -> PreparedOrder:
    """Read an order. `model` is the id of a model of that kind; `values` are its parameters, as the
    user has sent them.

    Raises PlanRequired, FeatureRequired, ProviderNotAvailable, ValidationFailed, UploadNotFound,
    ResultNotKept, StorageUnavailable.
    """
    _require(user, kind)
    found = _find_model(kind, model)
    params = found.params.check(values)
    found.params.check_prompt(prompt, params)
    pictures = [(loc, find_picture(user.pk, name, loc).file) for loc, name in names_in(params)]
    uploads = {file.pk: (loc, file) for loc, file in pictures if isinstance(file, Upload)}
    refined = params.get("refines")
    return PreparedOrder(
        user=user,
        kind=kind,
        model=found,
        prompt=prompt,
        params=params,
        uploads=[upload for _, upload in uploads.values()],
        places={upload_id: loc for upload_id, (loc, _) in uploads.items()},
        parent=_get_refined(user, found, refined) if refined else None,
        parent_gone=_no_preview() if refined else None,
    )


def prepare_extension(
    *,
    user: User,
    clip: Generation,
    prompt: str,
    seconds: int | None,
    others: Sequence[str] = (),
) -> PreparedOrder:
    """Read an order that extends a clip of the user's: by so many seconds, or as few as its model
    can. Without a prompt, that of the clip counts. `others` are the names of other fields: what is
    a parameter of an order is refused, because the clip's own counts.

    Raises what `prepare` does, JobNotFinished, CannotBeContinued (also where the model does not
    take any more what the clip was made with), ClipTooLong.
    """
    _require(user, Kind.VIDEO)
    if clip.status != Status.COMPLETED:
        raise JobNotFinished
    model = _find_model(Kind.VIDEO, clip.model)
    extension = model.params.extension
    if extension is None or not clip.reference:
        raise CannotBeContinued
    _refuse_params(model, others)
    added = _check_seconds(clip, extension, seconds)
    prompt = prompt or clip.prompt
    params = _params_of(clip, model, extension) | {"seconds": added}
    model.params.check_prompt(prompt, params)
    return PreparedOrder(
        user=user,
        kind=Kind.VIDEO,
        model=model,
        prompt=prompt,
        params=params,
        uploads=[],
        parent=clip,
        parent_gone=NotFound(),
        lead_seconds=0.0 if extension.combined else clip.seconds or 0.0,
    )


def prepare_retry(*, user: User, failed: Generation) -> PreparedOrder:
    """Read the order of a job that has failed or was cancelled once more.

    Raises what `prepare` and `prepare_extension` do, but CannotBeContinued instead of
    ValidationFailed and UploadNotFound; and NothingToRetry.
    """
    if failed.status not in (Status.FAILED, Status.CANCELLED):
        raise NothingToRetry
    gone = CannotBeContinued(_PREVIEW_GONE if failed.kind == Kind.ASSET else _CLIP_GONE)
    if (failed.is_extension or "refines" in failed.params) and failed.parent is None:
        raise gone
    try:
        return replace(_prepare_same(user, failed), parent_gone=gone)
    except ValidationFailed as misfit:
        # The request has no fields that could be at fault.
        raise CannotBeContinued(f"The same cannot be ordered any more. {misfit}") from None


def _prepare_same(user: User, failed: Generation) -> PreparedOrder:
    """Raises as `prepare` and `prepare_extension` do."""
    if failed.is_extension and failed.parent is not None:
        seconds = failed.params["seconds"]
        return prepare_extension(
            user=user, clip=failed.parent, prompt=failed.prompt, seconds=seconds
        )
    return prepare(
        user=user,
        kind=Kind(failed.kind),
        model=failed.model,
        prompt=failed.prompt,
        values=failed.params,
    )


def terms_of(model: Model, params: Mapping[str, Any]) -> Terms:
    """What an order with these parameters is billed by."""
    price = model.price
    match price:
        case ImagePrice():
            return Terms("images", params["n"], price.per_image[params["quality"]], price.fee)
        case UnitPrice(unit="second"):
            rate = price.per_unit[model.params.variant(params)]
            return Terms("seconds", params["seconds"], rate, price.fee)
        case UnitPrice():
            rate = price.per_unit[model.params.variant(params)]
            return Terms("assets", 1, rate, price.fee)
        case _:
            raise TypeError(f"{model.id} is not sold in a studio.")


def _require(user: User, kind: Kind) -> None:
    """Check that the user's plan has the studio of that kind."""
    feature = FEATURES.get(kind)
    if feature is not None:
        require_feature(user, feature)


def _find_model(kind: Kind, model_id: str) -> Model:
    """The model; whether it can be called now is not known yet. Raises ProviderNotAvailable where
    there is none."""
    model = get_catalog().find(model_id)
    if model is None or model.modality != kind.value:
        raise ProviderNotAvailable
    return model


def _get_refined(user: User, model: Model, job_id: str) -> Generation:
    """The preview that is refined. Raises ValidationFailed, JobNotFinished, CannotBeContinued."""
    try:
        preview = get_job(user, UUID(job_id), Kind.ASSET)
    except NotFound:
        raise _no_preview() from None
    if preview.status != Status.COMPLETED:
        raise JobNotFinished
    if preview.model != model.id or preview.params.get("stage") != "preview":
        raise CannotBeContinued(f"Only a preview of {model.display_name} can be refined by it.")
    return preview


def _no_preview() -> ValidationFailed:
    return ValidationFailed.of("refines", "There is no such job.")


def _params_of(clip: Generation, model: Model, extension: Extension) -> dict[str, Any]:
    """What an extension has from its clip, as the model takes it today: pictures are not used
    again, and what the model does not have any more is left out. Raises CannotBeContinued for a
    value that it does not take any more."""
    kept = {
        name: clip.params[name]
        for name, field in model.params.fields.items()
        if name in clip.params and field.get("format") != "upload" and name != "seconds"
    }
    if extension.resolution is not None:
        kept["resolution"] = extension.resolution
    try:
        return model.params.check(kept)
    except ValidationFailed as misfit:
        raise CannotBeContinued(
            f"This model does not take any more what the clip was made with. {misfit}"
        ) from None


def _refuse_params(model: Model, names: Sequence[str]) -> None:
    """Raises ValidationFailed for names of what an order takes."""
    refused = [name for name in names if name == "model" or name in model.params.known]
    if refused:
        raise ValidationFailed(
            f"{refused[0]}: {_AS_THE_CLIP}",
            errors=[{"loc": [name], "msg": _AS_THE_CLIP} for name in refused],
        )


def _check_seconds(clip: Generation, extension: Extension, seconds: int | None) -> int:
    """The seconds that are added. Raises ValidationFailed, ClipTooLong."""
    added = extension.seconds[0] if seconds is None else seconds
    if added not in extension.seconds:
        choices = " or ".join(map(str, extension.seconds))
        raise ValidationFailed.of("seconds", f"This model adds {choices} seconds at a time.")
    if (clip.seconds or 0.0) + added > extension.longest:
        raise ClipTooLong(f"This model makes clips of at most {extension.longest} seconds.")
    return added
