"""Which model a request names, and whether its key may call it."""

from billing.errors import ModelNotAllowed
from billing.selectors import KeyHolder
from catalog.selectors import aget_catalog
from catalog.types import Modality, Model
from publicapi.v1.errors import ModelNotFound


async def find_callable(name: str, modality: Modality, holder: KeyHolder) -> Model:
    """The model of that id or legacy alias.

    Raises ModelNotFound, also for a model of another modality, and ModelNotAllowed.
    """
    model = (await aget_catalog()).find(name)
    if model is None or model.modality != modality:
        raise ModelNotFound
    if not holder.may_call(model.id):
        raise ModelNotAllowed
    return model
