"""Many acts on one council at once, and answers that end between them: no order breaks it."""

import json
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from accounts.models import User
from common.errors import DomainError, NotFound
from council.errors import CardRunning, NotEnoughCards, NothingToAnswer, SessionBusy, TooManyCards
from council.models import Session, Status
from council.selectors.sessions import get_session
from council.serializers.sessions import SessionSerializer
from council.services import conversation, debates, merges, sessions
from council.tests import manual
from council.tests.owner import BALANCE_ONLY, COUNCIL
from council.tests.races import Act, begin, outcome
from council.types import STREAM, MergeMode
from events.selectors import read_page
from tests.follow import cut, wait_until
from tests.personas import new_user

PEOPLE, ACTS = 6, 12
# Why an act may be refused.
REFUSALS = {
    CardRunning,
    NotEnoughCards,
    NotFound,
    NothingToAnswer,
    SessionBusy,
    TooManyCards,
}


@pytest.fixture
def alice(committed: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


def test_a_storm_leaves_a_council_that_its_events_explain(alice: User) -> None:
    council, calls = begin(alice, cards=4)
    for call in calls:
        call.settle("Deep.")

    with ThreadPoolExecutor(PEOPLE) as threads:
        storms = [threads.submit(_act_at_random, council, alice, seed) for seed in range(PEOPLE)]
        refusals = {refusal for storm in storms for refusal in storm.result()}

    assert refusals <= REFUSALS
    wait_until(lambda: _is_idle(council))
    seen = json.loads(json.dumps(SessionSerializer(get_session(alice, council.pk)).data))
    assert seen["status"] in (Status.COMPLETED, Status.FAILED)
    frames = _frames(alice, council)
    assert COUNCIL.draw(COUNCIL.nothing, frames) == seen
    assert [json.loads(frame)["seq"] for frame in frames] == list(range(1, seen["last_seq"] + 1))


def _act_at_random(council: Session, user: User, seed: int) -> list[type[DomainError]]:
    """A few acts, and what they were refused with."""
    rng = random.Random(seed)  # noqa: S311 - a storm that can be repeated
    outcomes = [outcome(lambda: _any_act(council, user, rng)) for _ in range(ACTS)]
    return [type(refusal) for refusal in outcomes if isinstance(refusal, DomainError)]


def _any_act(council: Session, user: User, rng: random.Random) -> object:
    card_id = rng.choice([*council.cards.values_list("pk", flat=True)])
    acts: list[Act] = [
        lambda: sessions.add_card(user=user, session_id=council.pk, model=BALANCE_ONLY),
        lambda: sessions.regenerate(user=user, card_id=card_id),
        lambda: sessions.restore(user=user, card_id=card_id, number=1),
        lambda: conversation.message_card(user=user, card_id=card_id, content="Really?"),
        lambda: conversation.chat(user=user, session_id=council.pk, content="Really?"),
        lambda: merges.merge(user=user, session_id=council.pk, mode=MergeMode.FUSE),
        lambda: debates.debate(user=user, session_id=council.pk, rounds=2),
        lambda: sessions.remove(user=user, card_id=card_id),
        *[lambda: manual.finish_all(council)] * 3,
    ]
    return rng.choice(acts)()


def _is_idle(council: Session) -> bool:
    manual.finish_all(council)
    council.refresh_from_db()
    return council.status != Status.RUNNING


def _frames(user: User, council: Session) -> list[str]:
    page = read_page(
        account=user,
        kind=STREAM,
        stream_id=council.pk,
        after_seq=0,
        limit=100_000,
        max_bytes=10**9,
    )
    return cut(page.body)
