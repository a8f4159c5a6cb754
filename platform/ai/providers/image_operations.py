"""Image interfaces as operations: the answer to the submission is the pictures."""

from ai.providers.operations import Delivered, OperationState, Unknown
from ai.providers.types import Deadlines, ImageRequest, ImageWire


class ImageOperations:
    """An `OperationWire` of an `ImageWire`. The provider keeps nothing that could be polled: a
    submission whose answer is lost cannot be looked up."""

    can_cancel = False

    def __init__(self, wire: ImageWire) -> None:
        self._wire = wire

    async def submit(self, order: ImageRequest, reference: str, *, seconds: float) -> Delivered:
        """See `OperationWire.submit`."""
        pictures = await self._wire.generate(order, Deadlines(total=seconds))
        return Delivered(tuple(pictures))

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        """See `OperationWire.poll`."""
        return Unknown()

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        """See `OperationWire.cancel`."""
