"""The worker's part played by hand: each step of a call at the moment that a test chooses.

A job that is taken in the transaction that enqueued it is never seen by a real worker.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from msgspec.structs import replace

from ai.generations.endings import conclude, give_up
from ai.generations.types import Completion, Piece, completion_of
from ai.inference.errors import CallCancelled
from ai.providers.types import FinishReason
from billing.tests import bank
from billing.types import Ending, Resolution
from common.errors import DomainError
from council import events
from council.models import Card, Generation, Session, Status
from council.runner import GenerationHandler
from council.selectors.cards import current_of, text_in_log
from council.services.completion import CARD, Prepared, prepare
from council.services.completion import revised as revised_completion
from events.services import append
from work.jobs.models import Job

COST = 1_000_000  # nano-USD of a call, at cost
WORST = 10 * COST


@dataclass
class Call:
    """A card's call, taken by a worker that is alive."""

    job_id: UUID
    attempt: int
    owner: UUID
    prepared: Prepared | None = None

    @property
    def generation(self) -> Generation:
        return Generation.objects.select_related("session__account", "card").get(pk=self.job_id)

    @property
    def account_id(self) -> UUID:
        """Known also where the council was deleted."""
        return Job.objects.get(pk=self.job_id).account_id

    def prepare(self) -> Prepared | None:
        self.prepared = prepare(job_id=self.job_id, attempt=self.attempt)
        return self.prepared

    def hold(self) -> str:
        """Hold for the call. Returns the verdict."""
        account = self.generation.session.account
        verdict, _ = bank.hold(account, WORST, owner=self.owner, charge=self.job_id)
        return verdict

    def say(self, text: str, offset: int = 0) -> None:
        """Tell a piece of the answer."""
        generation = self.generation
        version = generation.versions.get()
        with transaction.atomic():
            deltas = events.deltas(version, generation.model, [Piece("text", text)], offset)
            append(stream_id=generation.session_id, events=deltas)

    def save(self, cost: int) -> None:
        """Save how far the call has come."""
        bank.checkpoint(self.owner, self.job_id, cost)

    def settle(
        self, text: str, failure: DomainError | None = None, *, finish: FinishReason = "stop"
    ) -> Resolution:
        """End the call with an answer that is billed."""
        ending = Ending(
            self.job_id, self.account_id, "settled", COST, {"tokens_in": 5, "tokens_out": 10}
        )
        return self.conclude(ending, text, failure, finish)

    def release(self, failure: DomainError) -> Resolution:
        """End the call without any."""
        return self.conclude(Ending(self.job_id, self.account_id, "released"), "", failure)

    def conclude(
        self,
        ending: Ending,
        text: str,
        failure: DomainError | None = None,
        finish: FinishReason = "stop",
    ) -> Resolution:
        assert self.prepared is not None
        return conclude(
            CARD,
            call_id=self.job_id,
            attempt=self.attempt,
            ending=ending,
            completion=self._completion(self.prepared, text, finish, failure),
        ).resolution

    def _completion(
        self, prepared: Prepared, text: str, finish: FinishReason, failure: DomainError | None
    ) -> Completion:
        """With the events of what the log does not have."""
        whole = completion_of(text, finish_reason=finish, failure=failure)
        if prepared.before is not None:
            whole = revised_completion(whole, prepared.before)
        if not Generation.objects.filter(pk=self.job_id).exists():
            return whole
        generation = self.generation
        version = generation.versions.get()
        offset = len(text_in_log(generation, version))
        pieces = [Piece("text", whole.content[offset:])]
        return replace(whole, unsent=events.deltas(version, generation.model, pieces, offset))

    def give_up(self, failure: DomainError) -> None:
        """End the call without its charge's word."""
        give_up(CARD, call_id=self.job_id, attempt=self.attempt, failure=failure)

    def on_lost(self) -> None:
        """Its worker has died, and a sweep has found the job."""
        bank.kill(self.owner)
        GenerationHandler().on_lost(self.job_id, self.attempt)


def claim(job_id: UUID) -> Call | None:
    """Claim a job, if nobody else has."""
    owner = bank.live_owner()
    claimed = Job.objects.filter(pk=job_id, status=Job.Status.QUEUED).update(
        status=Job.Status.RUNNING, attempt=1, owner_id=owner
    )
    return Call(job_id, 1, owner) if claimed else None


def take(card: Card) -> Call:
    """Claim the job of the card's current version."""
    card.refresh_from_db(fields=["current"])
    call = claim(current_of(card).generation_id)
    assert call is not None
    return call


def begin(card: Card) -> Call:
    """Take the card's call, and come as far as to the provider."""
    call = take(card)
    assert call.prepare() is not None
    assert call.hold() == "held"
    return call


def answer(card: Card, text: str) -> Call:
    """Let the card have that answer."""
    call = begin(card)
    call.settle(text)
    return call


def finish_all(council: Session) -> None:
    """Do whatever waits in a council, as the worker's handler does."""
    waiting = Generation.objects.filter(session=council, status=Status.QUEUED)
    for job_id in waiting.values_list("pk", flat=True):
        if call := claim(job_id):
            _finish(call)


def _finish(call: Call) -> None:
    try:
        call.prepare()
    except CallCancelled as failure:
        call.give_up(failure)
    else:
        call.hold()
        call.settle("Deep.")


def revised(answer: str, *, errors: str = "", held: str = "") -> str:
    """What a debater says who has come to that answer."""
    return (
        f"<errors_found>{errors}</errors_found><points_held>{held}</points_held>"
        f"<revised_answer>{answer}</revised_answer>"
    )
