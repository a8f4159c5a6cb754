"""Probes: tiny calls that the platform makes and pays for itself, to learn how a provider is.

They begin where `ai.provider_health` finds one due, and go the way of all calls: hold, call, meter,
settle. One task of each process looks for them, and ends the calls that a silent provider has left
behind.
"""

import asyncio
import contextlib
import io
import wave
from datetime import UTC, date, datetime
from functools import cache, partial
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError

from accounts.services import platform_account
from ai.catalog.selectors import aget_catalog
from ai.catalog.types import Model
from ai.inference.chat import ChatRunner
from ai.inference.embeddings import EmbeddingRunner
from ai.inference.metrics import calls_in_flight, probes
from ai.inference.runner import CallRunner
from ai.inference.runtime import get_runtime
from ai.inference.speech import SpeechRunner
from ai.inference.types import ChatCall, EmbeddingCall, SpeechCall
from ai.provider_health.name import Name
from ai.provider_health.permit import ProbePermit
from ai.provider_health.services import PROBED, claim_probe, get_health, name_of
from ai.providers.registry import get_chat_wire, get_embedding_wire, get_speech_wire
from ai.providers.types import Message
from billing.selectors import probe_budget
from common.database import DatabaseUnavailable
from common.errors import DomainError
from common.ids import uuid7
from common.loop_local import LoopLocal
from common.threads import in_thread

log = structlog.get_logger(__name__)

# A probe is looked for so often, and whenever a call has failed.
LOOK_SECONDS = 0.5
# The part of a probe's time that is the provider's; the rest is for the hold and the settlement.
PROVIDERS_PART = 0.9
PROMPT = "Answer with the word: ok"
# The least that providers accept.
MAX_OUTPUT_TOKENS = 16
# What a silent provider's circuit was opened by.
_SILENT = "timeout"
_RATE = 16_000  # samples of a second


class Prober:
    """Makes the probes of one event loop."""

    def __init__(self) -> None:
        self._runtime = get_runtime()
        self._status = get_health().status
        self._wanted = asyncio.Event()
        self._has_begun = False
        self._probing: dict[Name, asyncio.Task[None]] = {}
        self._open: set[Name] = set()
        self._spent_on: date | None = None

    def begin(self) -> None:
        """Look from now on, until the runtime is closed."""
        if not self._has_begun:
            self._has_begun = True
            self._runtime.keep(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._wanted.set)

        self._status.listeners.append(wake)
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._wanted.wait()
                self._wanted.clear()
                try:
                    await self._look()
                except Exception:
                    log.exception("provider.not_probed")
        finally:
            self._status.listeners.remove(wake)
            for task in self._probing.values():
                task.cancel()

    async def _look(self) -> None:
        self._tell_those_in_flight()
        if self._runtime.is_ending:
            return
        for runner in self._runtime.runners:
            # Pictures take minutes, and are not probed.
            if runner.call.model.modality in PROBED and not runner.is_probe:
                runner.suspect_if_silent(settings.CIRCUIT_SILENT_SECONDS)
        if not (due := self._status.due()):
            return
        catalog = await aget_catalog()
        for name in due:
            model = catalog.find(name.model)
            is_callable = model is not None and model.modality in PROBED
            if (
                model
                and is_callable
                and name not in self._probing
                and not self._status.is_off(name)
            ):
                task = asyncio.create_task(self._probe(name, model))
                self._probing[name] = task
                task.add_done_callback(partial(self._forget, name))

    def _forget(self, name: Name, _task: asyncio.Task[None]) -> None:
        del self._probing[name]

    # --- A probe ----------------------------------------------------------------------------------

    async def _probe(self, name: Name, model: Model) -> None:
        permit = await claim_probe(model)
        if permit is None:
            return
        outcome = "unmade"
        try:
            if await self._is_affordable():
                await self._call(model, permit)
                outcome = permit.verdict
            else:
                outcome = "no_budget"
        except (DomainError, DatabaseUnavailable, OperationalError, InterfaceError) as failure:
            log.warning("provider.probe_not_made", error=str(failure), **name._asdict())
        finally:
            permit.release()
        probes.labels(*name, outcome).inc()
        log.info("provider.probed", outcome=outcome, **name._asdict())

    async def _is_affordable(self) -> bool:
        """Is there anything left of the day's budget? Where nothing is, that is said once a day."""
        is_spent = await in_thread(_prepare)
        today = datetime.now(UTC).date()
        if is_spent and self._spent_on != today:
            self._spent_on = today
            log.error("provider.probe_budget_spent")
        return not is_spent

    async def _call(self, model: Model, permit: ProbePermit) -> None:
        """Raises DomainErrors where the call is not made."""
        runner = _runner_of(model, permit)
        if runner is not None:
            await self._runtime.start(runner, beyond_room=True)
            await runner.finished.wait()

    # --- Calls in flight --------------------------------------------------------------------------

    def _tell_those_in_flight(self) -> None:
        """Count the calls that run when a circuit opens, and stop those that nothing has come of
        where the provider is silent: they would wait for minutes."""
        now = self._status.now()
        circuits = self._status.circuits().items()
        is_open = {name: each for name, each in circuits if each.is_open(now)}
        for name, circuit in is_open.items():
            calls = [
                runner
                for runner in self._runtime.runners
                if name_of(runner.call.model) == name and not runner.is_probe
            ]
            is_silent = circuit.cause == _SILENT
            stopped = sum(runner.stop_if_silent() for runner in calls) if is_silent else 0
            if name not in self._open:
                calls_in_flight.labels(*name).inc(len(calls))
            if stopped or (calls and name not in self._open):
                log.warning(
                    "provider.calls_in_flight",
                    calls=len(calls),
                    stopped=stopped,
                    cause=circuit.cause,
                    **name._asdict(),
                )
        self._open = set(is_open)


def _prepare() -> bool:
    """Make sure of the account. Is its budget spent?"""
    platform_account.ensure()
    return probe_budget.is_spent()


def _runner_of(model: Model, permit: ProbePermit) -> CallRunner[Any, Any] | None:
    """The call, None where the provider is not configured here."""
    runtime = get_runtime()
    fields: dict[str, Any] = {
        "account_id": platform_account.PLATFORM_ID,
        "api_key_id": None,
        "source": "job",
        "funding": "platform",
        "model": model,
        "request_id": f"probe-{uuid7()}",
        "total_seconds": PROVIDERS_PART * permit.seconds,
    }
    if model.modality == "chat" and (chat := get_chat_wire(model.provider)):
        message = Message("user", PROMPT)
        bound = min(MAX_OUTPUT_TOKENS, model.max_output_tokens)
        call = ChatCall(messages=(message,), max_output_tokens=bound, stream=True, **fields)
        return ChatRunner(call, chat, permit, runtime.owner_id, runtime.note_progress)
    if model.modality == "embedding" and (embedding := get_embedding_wire(model.provider)):
        texts = EmbeddingCall(inputs=(PROMPT,), **fields)
        return EmbeddingRunner(texts, embedding, permit, runtime.owner_id)
    if model.modality == "speech" and (speech := get_speech_wire(model.provider)):
        audio = SpeechCall(audio=_silence(), format="wav", duration=1.0, **fields)
        return SpeechRunner(audio, speech, permit, runtime.owner_id)
    return None


@cache
def _silence() -> bytes:
    """A second of silence, as WAV."""
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(_RATE)
        written.writeframes(bytes(2 * _RATE))
    return file.getvalue()


_probers = LoopLocal(Prober)


def keep_probing() -> None:
    """Make the probes that are due in this process, from now on."""
    _probers.get().begin()
