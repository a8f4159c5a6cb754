"""Two web processes and two workers behind one address do what one of each does."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from council.models import Generation
from council.tests.owner import COUNCIL, MODELS, Owner, Shape, new_owner
from events.models import Event
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import Council, customer
from tests.chaos.proxy import Proxy
from tests.follow import followed
from tests.service import Web, running_web
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.tasks import run_job

pytestmark = pytest.mark.usefixtures("committed")


def test_they_give_the_same_results(simulator: RunningSimulator) -> None:
    with ExitStack() as stack, Proxy() as proxy, _client(proxy) as http:
        webs: list[Web] = []

        def one_more_of_each() -> None:
            webs.append(stack.enter_context(running_web(simulator)))
            proxy.lead_to(webs[-1].port)
            stack.enter_context(running_worker(simulator))

        one_more_of_each()
        alone = _council(new_owner(http, webs[0], simulator), webs)
        one_more_of_each()
        shared = _council(new_owner(http, webs[0], simulator), webs)
        assert shared == alone
        _assert_cancelling_reaches_every_worker(new_owner(http, webs[0], simulator))
        _assert_messages_that_come_again_change_nothing(new_owner(http, webs[0], simulator))


def _council(owner: Owner, webs: list[Web]) -> tuple[Any, ...]:
    """A council in which all happens that can, followed at every web process; what came of it, but
    for ids, times and words."""
    session = owner.start(*MODELS[:3])
    path = f"/sessions/{session['id']}"
    with _followed(owner, session, webs):
        pass
    with _followed(owner, session, webs):
        owner.do("POST", f"{path}/cards", model_key=MODELS[3])
    with _followed(owner, session, webs):
        owner.do("POST", f"{path}/chat", content=owner.text())
    first, second, *_ = (f"/cards/{card['id']}" for card in session["cards"])
    with _followed(owner, session, webs):
        owner.do("POST", f"{first}/regenerate", instructions=owner.text())
    with _followed(owner, session, webs):
        owner.do("POST", f"{second}/messages", content=owner.text())
    with _followed(owner, session, webs):
        owner.do("POST", f"{first}/restore", version=1)
    with _followed(owner, session, webs):
        owner.do("POST", f"{path}/merge", model_key=MODELS[0], instructions=owner.text())
    with _followed(owner, session, webs):
        owner.do("POST", f"{path}/debate", focus=owner.text())
    with _followed(owner, session, webs):
        owner.do("DELETE", second)
    last = owner.do("GET", path)
    owner.check_money(last)
    types = Event.objects.filter(stream=session["id"]).exclude(type="card.delta")
    return (
        [last[name] for name in ("status", "activity", "round", "rounds")],
        [_outline(card) for card in last["cards"]],
        Counter(types.values_list("type", flat=True)),
        len(owner.charges()),
    )


def _outline(card: Shape) -> list[Any]:
    names = ("kind", "model", "status", "current_version", "source", "error")
    tokens, words = card["usage"]["output_tokens"], len(card["content"].split())
    return [*(card[name] for name in names), tokens, words]


def _assert_cancelling_reaches_every_worker(owner: Owner) -> None:
    """Through whichever web process it comes."""
    session = owner.start(*[MODELS[0]] * 8, prompt=owner.text(tokens=2000, delay_ms=30))
    calls.wait_for(lambda: len(owner.calls()) == 8)
    assert len({charge.owner_id for charge in owner.charges().values()}) == 2
    for card in session["cards"]:
        owner.do("DELETE", f"/cards/{card['id']}")
    calls.wait_for(lambda: {call["outcome"] for call in owner.calls()} == {"client_gone"})
    ended = Generation.objects.filter(session=session["id"], status="cancelled")
    calls.wait_for(lambda: ended.count() == 8)
    assert all(charge.tokens_out < 2000 for charge in owner.charges().values())
    owner.check_money(owner.do("GET", f"/sessions/{session['id']}"))


def _assert_messages_that_come_again_change_nothing(owner: Owner) -> None:
    """Each call is made once and paid once, however often the workers are told of it."""
    session = owner.start(*MODELS, prompt=owner.text(tokens=10, delay_ms=100))
    job_ids = [
        str(pk)
        for pk in Generation.objects.filter(session=session["id"]).values_list("pk", flat=True)
    ]
    for job_id in job_ids * 5:
        run_job.apply_async((job_id,), queue="interactive")
    jobs = Job.objects.filter(pk__in=job_ids)
    calls.wait_for(lambda: jobs.filter(status="completed").count() == len(MODELS))
    for job_id in job_ids:
        run_job.apply_async((job_id,), queue="interactive")
    later = Council(customer("bob"), tokens=3)
    calls.wait_for(lambda: later.has_ended)
    assert set(jobs.values_list("attempt", flat=True)) == {1}
    assert len(owner.calls()) == len(owner.charges()) == len(MODELS)
    owner.check_money(owner.do("GET", f"/sessions/{session['id']}"))


@contextmanager
def _followed(owner: Owner, session: Shape, webs: list[Web]) -> Iterator[None]:
    """What its socket and its replay tell is the same at every web process."""
    with ExitStack() as stack:
        for web in webs:
            stack.enter_context(followed(COUNCIL, session["id"], owner.token, web))
        yield


def _client(proxy: Proxy) -> httpx.Client:
    """Each of its requests goes to another web process than the one before."""
    return httpx.Client(
        base_url=proxy.url, timeout=20, limits=httpx.Limits(max_keepalive_connections=0)
    )
