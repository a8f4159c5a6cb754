"""The interface of a provider's long-running operations: submitted, polled, cancelled.

They take minutes, and outlive the process that submits them. The term is that of Google's AIP-151;
other providers say task, job or generation.
"""

from typing import Protocol, TypeVar

from msgspec import Struct

from ai.providers.types import Image

Order = TypeVar("Order", contravariant=True)


class Accepted(Struct, frozen=True):
    """The provider works on an operation with this id. `poll_after`: the seconds that it asks to
    wait before the first poll, None where it says nothing."""

    id: str
    poll_after: float | None = None


class Delivered(Struct, frozen=True):
    """The answer to the submission is the result, and the operation has ended well: there is no id,
    and nothing to poll."""

    images: tuple[Image, ...]


class Pending(Struct, frozen=True):
    """The operation goes on. `progress` is between 0 and 1, None where the provider tells none."""

    progress: float | None = None
    poll_after: float | None = None


class Succeeded(Struct, frozen=True):
    """The operation has ended well.

    `urls` are those of its results: the first is the result itself, further ones are previews of
    it. `cost` is what the provider says it costs, in nano-USD, and `seconds` the length of a clip,
    None where it says nothing. `reference` is what an extension or a refinement of the result
    names; its form is the provider's.
    """

    urls: tuple[str, ...]
    cost: int | None = None
    reference: str = ""
    seconds: float | None = None


class Failed(Struct, frozen=True):
    """The operation has ended without a result. The customer may read `message`: it contains no
    credentials. `codes` are the provider's; `blocked`: its moderation has ended the operation."""

    message: str
    codes: tuple[str, ...] = ()
    blocked: bool = False


class Cancelled(Struct, frozen=True):
    """The operation was cancelled before it had a result."""


class Unknown(Struct, frozen=True):
    """The provider knows no such operation, or not yet."""


OperationState = Pending | Succeeded | Failed | Cancelled | Unknown


class OperationWire(Protocol[Order]):
    """One provider's interface. All methods raise only `ai.providers.errors.ProviderError`s.

    `can_cancel`: an operation can be cancelled.
    """

    @property
    def can_cancel(self) -> bool: ...

    async def submit(self, order: Order, reference: str, *, seconds: float) -> Accepted | Delivered:
        """Submit an operation, once, with a reference of ours. An `UpstreamError` is `retryable`
        only where certainly no operation was begun; another ProviderError says that none was."""
        ...

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        """The state of an operation."""
        ...

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        """Ask the provider to cancel. Returns as well where the operation has ended, or cannot be
        cancelled any more: `poll` says what has become of it."""
        ...
