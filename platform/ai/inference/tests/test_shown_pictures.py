"""What the pictures of a chat call may take of a process."""

from uuid import UUID, uuid4

import pytest

from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.inference import chat
from ai.inference.chat import MAX_MEMORY, MAX_MEMORY_OF_ACCOUNT, ChatRunner
from ai.inference.types import ChatCall
from ai.provider_health.services import permit_of
from ai.providers.types import InputImage, Message
from common.errors import ServiceUnavailable

pytestmark = pytest.mark.django_db


class NobodyLooks:
    """A wire that must not be called."""

    shows_reasoning = False


@pytest.fixture
def luna() -> Model:
    model = get_catalog().find("gpt-6-luna")
    assert model is not None
    return model


def shown(model: Model, account_id: UUID) -> ChatRunner:
    """A call that shows a picture of 1,000 bytes."""
    picture = InputImage(bytes(1_000), "image/png", 1, 1)
    call = ChatCall(
        account_id=account_id,
        api_key_id=None,
        source="api",
        model=model,
        messages=(Message("user", "", parts=(picture,)),),
        request_id="",
    )
    return ChatRunner(call, NobodyLooks(), permit_of(model, None), uuid4(), lambda: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("of_account", [True, False])
async def test_where_there_is_no_memory_left_nothing_is_held_nor_asked(
    luna: Model, of_account: bool
) -> None:
    alice = uuid4()
    owner, most = (str(alice), MAX_MEMORY_OF_ACCOUNT) if of_account else ("", MAX_MEMORY)
    runner = shown(luna, alice)
    with chat._memory.share(owner) as others:
        others.reserve(most - 3_999)
        await runner.run()
    with pytest.raises(ServiceUnavailable):
        await runner.ended()
