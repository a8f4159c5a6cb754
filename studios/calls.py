"""What the studios order of providers, and what it is billed by."""

from collections.abc import Mapping
from typing import Any, Self, cast
from uuid import UUID

import msgspec
from msgspec import Struct

from ai.catalog.params import Params
from ai.catalog.types import Catalog, Modality, Model, UnitPrice
from ai.operations.types import OperationCall
from ai.providers.operations import Succeeded
from billing.units import Unit, Units
from studios.types import DEADLINES, Kind

# The provider answers with the pictures themselves, which then have to be stored.
_IMAGE_SUBMISSION_SECONDS = 540.0


class Terms(Struct, frozen=True):
    """What an order is billed by: so many units, each at the provider's rate plus the platform's
    fee, in nano-USD."""

    unit: Unit
    quantity: int
    rate: int
    fee: int

    def cost_of(self, quantity: int) -> int:
        """Nano-USD, at cost, of so many of the units."""
        return quantity * (self.rate + self.fee)


class Order(Struct, frozen=True, kw_only=True):
    """An order as it was placed. Neither a new price nor another model of that name changes it.

    `continues` is the provider's reference of the result that is extended or refined. `params` name
    pictures by the ids of uploads, as texts, or as results of jobs (`studios.pictures.Name`).
    """

    model: str
    provider: str
    upstream_model: str
    prompt: str
    params: dict[str, Any]
    terms: Terms
    continues: str = ""

    def as_json(self) -> dict[str, Any]:
        """For the row of an operation."""
        builtins: dict[str, Any] = msgspec.to_builtins(self)
        return builtins

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """The order of such a row."""
        return msgspec.convert(row, cls)


class StudioCall(OperationCall, frozen=True, kw_only=True):
    """The call of a generation job."""

    order: Order

    @property
    def worst_cost(self) -> int:
        return self.order.terms.cost_of(self.order.terms.quantity)

    @property
    def units(self) -> Units:
        return {self.order.terms.unit: self.order.terms.quantity}

    def cost_of(self, result: Succeeded | None) -> int:
        """The provider's own cost with the platform's fee, or the table's where it tells none."""
        if result is None or result.cost is None:
            return self.worst_cost
        terms = self.order.terms
        return min(result.cost + terms.quantity * terms.fee, self.worst_cost)


class ImageCall(StudioCall, frozen=True, kw_only=True):
    kind = "images"
    submission_seconds: float = _IMAGE_SUBMISSION_SECONDS


class VideoCall(StudioCall, frozen=True, kw_only=True):
    kind = "video"


class AssetCall(StudioCall, frozen=True, kw_only=True):
    kind = "3d"


_CALLS: Mapping[Kind, type[StudioCall]] = {
    Kind.IMAGE: ImageCall,
    Kind.VIDEO: VideoCall,
    Kind.ASSET: AssetCall,
}


def call_of(
    kind: Kind, *, request_id: str, account_id: UUID, model: Model, order: Order
) -> StudioCall:
    """The call of an order."""
    return _CALLS[kind](
        account_id=account_id,
        api_key_id=None,
        source="job",
        model=model,
        request_id=request_id,
        total_seconds=DEADLINES[kind],
        order=order,
    )


def model_of(kind: Kind, order: Order, catalog: Catalog) -> Model:
    """The model of an order. One that has left the catalog since is known by its names alone: the
    terms are those of the order."""
    return catalog.models.get(order.model) or Model(
        id=order.model,
        display_name=order.model,
        modality=cast(Modality, kind.value),
        provider=order.provider,
        upstream_model=order.upstream_model,
        owned_by="",
        vision=False,
        tools=False,
        streaming=False,
        reasoning=False,
        reasons_unasked=False,
        context_window=0,
        max_output_tokens=0,
        prompt_overhead_tokens=0,
        minimum_seconds=0,
        free=False,
        created=0,
        params=Params({}),
        price=UnitPrice(version_id=0, unit="asset", per_unit={}, fee=0),
    )
