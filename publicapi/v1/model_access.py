"""Finds the model of a request, and checks whether its key may call it."""

from ai.catalog.selectors import aget_catalog
from ai.catalog.types import Modality, Model
from billing.errors import ModelNotAllowed
from billing.selectors.api_keys import KeyHolder
from publicapi.v1.errors import ModelNotFound

MAX_SHOWN = 64  # characters of an unknown name

# Modalities in words, and their endpoints.
_KINDS: dict[Modality, tuple[str, str]] = {
    "chat": ("a chat model", "/v1/chat/completions"),
    "image": ("an image model", "/v1/images/generations"),
    "embedding": ("an embeddings model", "/v1/embeddings"),
}


async def find_listed(name: str) -> Model:
    """The model of that id or legacy alias. Raises ModelNotFound."""
    catalog = await aget_catalog()
    model = catalog.find(name)
    if model is not None and model.is_public:
        return model
    if name in catalog.retired:
        raise ModelNotFound(
            f"`{name}` was retired and has no successor. `GET /v1/models` lists the models."
        )
    raise ModelNotFound(f"There is no model `{shown(name)}`. `GET /v1/models` lists them.")


async def find_callable(name: str, modality: Modality, holder: KeyHolder) -> Model:
    """The model of that id or legacy alias.

    Raises ModelNotFound, also for a model of another modality, and ModelNotAllowed.
    """
    model = await find_listed(name)
    if model.modality != modality:
        kind, path = _KINDS[model.modality]
        raise ModelNotFound(f"`{name}` is {kind}: call it with `POST {path}`.")
    if not holder.may_call(model.id):
        raise ModelNotAllowed
    return model


def shown(name: str) -> str:
    """A name of a client's for a message: its beginning, on one line."""
    short = name if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]}…"
    return "".join(each if each.isprintable() and each != "`" else "\ufffd" for each in short)
