"""The journal of the providers, the charges, and what clients were answered."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ai.catalog.pricing import token_cost
from ai.catalog.selectors import get_catalog
from ai.catalog.types import TokenPrice
from bench.campaign.notes import Answer, Note
from bench.campaign.people import Person
from billing.models import Charge, LedgerEntry, Refund
from billing.services.reconciliation import find_violations
from conversations.models import Message
from council.models import Generation as CouncilGeneration
from council.models import Session as Council
from projects.models import Run, Step
from studios.models import Generation as Order

Call = dict[str, Any]
MARKER = re.compile(r'"marker": "(act-[0-9-]+)"')
BILLED = ("settled", "expired")
# Acts that are one call each.
SINGLE = ("chat", "embeddings", "picture_call", "transcript")
# A call is tried again, twice, before it has brought anything (platform/ai/inference/retries.py);
# and each time sent again where a kept connection fails at once (platform/common/http.py).
ATTEMPTS = 2 * 3


def check_invariants() -> list[str]:
    """The invariants of `manage.py reconcile`."""
    return [f"invariant {each.invariant.name}: {each.row}" for each in find_violations()]


@dataclass(frozen=True)
class Books:
    """The calls and charges of each act, by its marker, and for which conversation, council, run or
    order each charge is. `is_lossy`: a process may have died with answers that nobody pays."""

    notes: Sequence[Note]
    calls: Mapping[str, list[Call]]
    charges: Mapping[str, list[Charge]]
    subjects: Mapping[UUID, UUID]
    is_lossy: bool

    def check(self) -> tuple[list[str], int]:
        """What is wrong, and how many answers are lost to the platform."""
        wrong, lost = self._of_departed(), 0
        for note in self.notes:
            charges = self.charges[note.marker]
            of_answers, unbilled = _of_answers(note, charges)
            found = [*self._begun_twice(note, charges), *of_answers]
            if not self._has_departed(note):
                found += _of_calls(self.calls[note.marker], charges, is_left=_is_left(note))
            lost += len(unbilled)
            if unbilled and not self.is_lossy:
                found.append(f"was answered, and is not billed: {unbilled}")
            wrong += [f"{note}: {each}" for each in found]
        return wrong, lost

    def _of_departed(self) -> list[str]:
        """All calls of those whose data is deleted: what their charges were for is gone with it."""
        markers = [note.marker for note in self.notes if self._has_departed(note)]
        known = {note.marker for note in self.notes}
        strays = [each for name in self.charges.keys() - known for each in self.charges[name]]
        calls = [each for marker in markers for each in self.calls[marker]]
        charges = [each for marker in markers for each in self.charges[marker]]
        found = _of_calls(calls, charges + strays, is_left=True)
        return [f"who has departed: {each}" for each in found]

    def _has_departed(self, note: Note) -> bool:
        """Is the account of the one who acted deleted?"""
        departures = [each for each in self.notes if each.seen.get("departed")]
        return note.act.person in {each.act.person for each in departures}

    def _begun_twice(self, note: Note, charges: list[Charge]) -> list[str]:
        """What is begun under a name is begun and billed once. Without a name, an attempt that was
        not answered may have been carried out, and the next one is, too."""
        billed = {self.subjects.get(each.pk) for each in charges if each.status in BILLED} - {None}
        return [f"one name has begun {billed}"] if note.name and len(billed) > 1 else []


def books(notes: Sequence[Note], journal: Sequence[Call], *, is_lossy: bool) -> Books:
    calls: dict[str, list[Call]] = defaultdict(list)
    for call in journal:
        calls[call["marker"] or ""].append(call)
    subjects, markers = _subjects(), _markers()
    charges: dict[str, list[Charge]] = defaultdict(list)
    for charge in Charge.objects.filter(funding="customer"):
        marker = markers.get(subjects.get(charge.pk, charge.pk), charge.request_id)
        charges[marker].append(charge)
    return Books(notes, calls, charges, subjects, is_lossy)


def _subjects() -> dict[UUID, UUID]:
    """The conversation, council, run or order that each charge is for."""
    return dict(
        [
            *Message.objects.filter(role="assistant").values_list("pk", "conversation_id"),
            *CouncilGeneration.objects.values_list("pk", "session_id"),
            *Step.objects.values_list("pk", "run_id"),
            *Order.objects.values_list("pk", "pk"),
        ]
    )


def _markers() -> dict[UUID, str]:
    """The marker in what was asked of each of them."""
    asked = [
        *Message.objects.filter(role="user").values_list("conversation_id", "content"),
        *Council.objects.values_list("pk", "prompt"),
        *Run.objects.values_list("pk", "goal"),
        *Order.objects.values_list("pk", "prompt"),
    ]
    return {pk: found[0] for pk, text in asked if (found := MARKER.findall(text))}


def _is_left(note: Note) -> bool:
    """Did the one who acted end a call that ran?"""
    options = note.act.options
    return options.get("then") in ("stop", "cancel") or bool(options.get("hangs_up"))


def _of_calls(calls: list[Call], charges: list[Charge], *, is_left: bool) -> list[str]:
    """Each call has one charge; none is billed for more than its provider has put out. Of a call
    that was left, or has expired, the platform may not have read the count, though the provider has
    sent it."""
    wrong = []
    billed = [charge for charge in charges if charge.status in BILLED]
    is_counted = not is_left and not any(charge.status == "expired" for charge in billed)
    with_output = [call for call in calls if _output(call) or call["outcome"] == "completed"]
    if len(calls) > ATTEMPTS * len(charges):
        wrong.append(f"{len(calls)} calls and {len(charges)} charges")
    if len(with_output) > len(charges):
        wrong.append(f"{len(with_output)} calls with output and {len(charges)} charges")
    if len(billed) > len(calls):
        wrong.append(f"{len(billed)} charges are billed for {len(calls)} calls")
    sums = {
        "tokens_out": sum(_tokens(call, is_counted=is_counted) for call in calls),
        "images": sum(call["images"] for call in calls),
        "seconds": sum(map(_seconds, calls)),
        "assets": sum(call["outcome"] == "completed" for call in calls),
    }
    for unit, emitted in sums.items():
        paid = sum(charge.units.get(unit, 0) for charge in billed)
        if paid > emitted:
            wrong.append(f"{paid} {unit} are billed, {emitted} were put out")
    return wrong


def _tokens(call: Call, *, is_counted: bool) -> int:
    """The most tokens that may be billed of what was put out: those of a whole answer, and those
    that Gemini counts with each part. Nobody has counted other parts; they are estimated from their
    text, and a token of what the simulator writes has two bytes at least. So is a whole answer
    whose count may not have been read."""
    if call["outcome"] == "completed" and is_counted:
        return int(call["completion_tokens"])
    if call["tokens_emitted"] and "streamGenerateContent" in call["path"]:
        counted = call["tokens_emitted"] + call["reasoning_tokens"]
    else:
        counted = call["tokens_emitted"] + call["reasoning_emitted"]
    return int(max(counted, call["bytes_emitted"] // 2))


def _seconds(call: Call) -> int:
    """Of a film, or of audio, which is billed by whole ones."""
    return int(call["seconds"] or math.ceil(call["audio_seconds"] or 0))


def _output(call: Call) -> int:
    return int(call["tokens_emitted"] + call["reasoning_emitted"] + call["images_emitted"])


def _of_answers(note: Note, charges: list[Charge]) -> tuple[list[str], list[str]]:
    """What is wrong with the answers of a call of `/v1`, and the ids of those that nobody pays: a
    name whose answer is not paid is free again, so that the next answer may be another."""
    wrong: list[str] = []
    billed = [charge for charge in charges if charge.status in BILLED]
    settled = [charge for charge in billed if charge.status == "settled"]
    paid = [answer for answer in note.answers if _is_of_any(answer, settled)]
    if note.name and len({(each.id, each.content) for each in paid}) > 1:
        wrong.append(f"one name has different answers: {paid}")
    if note.name and note.act.kind in SINGLE and len(billed) > 1:
        wrong.append(f"one name is billed {len(billed)} times")
    if paid and (tokens := paid[-1].usage.get("completion_tokens")):
        found = [charge.tokens_out for charge in settled]
        if tokens not in found:
            wrong.append(f"{tokens} tokens were answered, {found} are billed")
    return wrong, [answer.id for answer in note.answers if answer not in paid]


def _is_of_any(answer: Answer, charges: list[Charge]) -> bool:
    """Is it the answer of one of these charges? Only those of chats have ids, which tell it."""
    return any(not answer.id or charge.pk.hex in answer.id for charge in charges)


def check_costs() -> list[str]:
    """What calls for text cost is what the price list says of their tokens."""
    wrong = []
    prices = get_catalog().models
    for charge in Charge.objects.filter(kind="chat", status__in=BILLED):
        price = prices[charge.model_id].price
        if not isinstance(price, TokenPrice):
            continue
        cost = token_cost(price, charge.tokens_in, charge.tokens_out, charge.cached_tokens)
        if charge.cost != cost:
            wrong.append(f"charge {charge.pk} cost {charge.cost}, its tokens cost {cost}")
    return wrong


def check_topups(people: Sequence[Person], notes: Sequence[Note]) -> list[str]:
    """What was topped up is in the ledger, once; so is what was given back or adjusted."""
    wrong = []
    for number, person in enumerate(people):
        own = [note for note in notes if note.act.person == number]
        expected = {
            "topup": person.balance + sum(note.seen.get("topped up", 0) for note in own),
            "refund": sum(note.seen.get("refunded", 0) for note in own),
            "adjust": sum(note.seen.get("adjusted", 0) for note in own),
        }
        for kind, amount in expected.items():
            entries = LedgerEntry.objects.filter(account=person.user_id, kind=kind)
            found = sum(entries.values_list("delta", flat=True))
            if found != amount:
                wrong.append(f"person {number}: the ledger has {kind}s of {found}, not {amount}")
    given_back = Refund.objects.count()
    noted = sum("refunded" in note.seen for note in notes)
    if given_back != noted:
        wrong.append(f"there are {given_back} refunds, and {noted} were answered")
    return wrong
