"""POST /api/transcribe: audio is measured, written down by a provider, and billed by the second."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from ai.provider_health.tests.opened import refused_alone
from billing.services import balance
from common.ids import uuid7
from common.money import NUSD_PER_USD
from conversations.tests.conftest import NewSpeaker
from conversations.tests.dictation import MODELS, Dictation
from tests.audio import FORMATS
from tests.chaos.calls import wait_for
from tests.hanging_up import sent

NewDictation = Callable[..., Dictation]

# At the listed rate and the platform's fee, in nano-USD per hour.
RATES = {
    "gpt-transcribe": 270_000_000 + 60_000_000,
    "whisper-large-v3-turbo": 40_000_000 + 60_000_000,
    "nova-3": 312_000_000 + 60_000_000,
}


@pytest.fixture
def dictation(speaker: NewSpeaker) -> NewDictation:
    """Makes people who dictate; keywords as in `new_speaker`."""

    def make(**options: object) -> Dictation:
        return Dictation(speaker(**options))

    return make


@pytest.fixture
def alice(dictation: NewDictation) -> Dictation:
    return dictation()


def cost_of(model: str, seconds: int) -> int:
    return -(-RATES[model] * seconds // 3_600)


@pytest.mark.parametrize(("provider", "model"), MODELS.items())
def test_audio_is_written_down_and_billed_by_the_second(
    alice: Dictation, provider: str, model: str
) -> None:
    answer = alice.transcript(alice.audio(12.2, text="Ten of clubs."), model=model)

    cost = cost_of(model, 13)
    assert answer == {
        "text": "Ten of clubs.",
        "language": None if provider == "openai" else "en",
        "duration_seconds": 12.2,
        "usage": {
            "input_tokens": 0,
            "output_tokens": 0,
            "reasoning_tokens": 0,
            "cached_tokens": 0,
            "total_tokens": 0,
            "seconds": 13,
            "listed_usd": cost / NUSD_PER_USD,
            "paid_by_plan_usd": 0,
            "paid_by_balance_usd": 2 * cost / NUSD_PER_USD,
        },
    }
    [call] = alice.calls()
    assert (call["provider"], call["model"], call["kind"]) == (provider, model, "speech")
    assert call["audio_seconds"] == 12.2


def test_without_wishes_a_model_is_chosen_and_the_audio_told_of(alice: Dictation) -> None:
    assert "2.5 seconds of audio in the format wav" in alice.transcript()["text"]
    [charge] = alice.charges()
    assert (charge.model_id, charge.source, charge.kind) == ("gpt-transcribe", "web", "speech")
    assert (charge.seconds, charge.status, charge.api_key_id) == (3, "settled", None)
    assert charge.worst_cost == charge.cost == cost_of("gpt-transcribe", 3)


def test_less_than_a_second_is_one_and_a_model_may_have_a_least_length(alice: Dictation) -> None:
    def seconds(model: str) -> int:
        billed: int = alice.transcript(alice.audio(0.3), model=model)["usage"]["seconds"]
        return billed

    assert seconds("nova-3") == 1
    assert seconds("whisper-large-v3-turbo") == 10


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_reaches_the_provider_as_what_it_is(alice: Dictation, form: str) -> None:
    answer = alice.transcript(alice.audio(1.5, form, text="Hello."), name="renamed.exe")
    assert 1.5 <= answer["duration_seconds"] < 1.7
    if form not in ("mpga", "mpeg"):  # which have no tags to be known by
        assert answer["text"] == "Hello."


def test_the_language_is_passed_on_and_answered(alice: Dictation) -> None:
    for model in MODELS.values():
        assert alice.transcript(model=model, language="de")["language"] == "de"
    assert [call["language"] for call in alice.calls()] == ["de"] * len(MODELS)


@pytest.mark.parametrize("language", ["DE", "de-CH", "de-Latn-CH-1901"])
def test_a_language_may_be_written_as_browsers_do(alice: Dictation, language: str) -> None:
    alice.transcript(language=language)
    assert [call["language"] for call in alice.calls()] == ["de"]


def test_silence_has_no_words_and_is_billed(alice: Dictation) -> None:
    answer = alice.transcript(alice.audio(text=""))
    assert (answer["text"], answer["usage"]["seconds"]) == ("", 3)


def test_it_shows_in_the_usage_of_the_web_app(alice: Dictation) -> None:
    alice.transcript()
    headers = alice.speaker.headers
    [record] = alice.speaker.http.get("/api/users/me/usage", headers=headers).json()
    assert (record["model"], record["source"], record["seconds"]) == ("gpt-transcribe", "web", 3)


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("audio", [b"", b"no audio", b"RIFF" + bytes(2_000)])
def test_what_is_no_audio_is_refused_before_anything_is_asked(
    alice: Dictation, audio: bytes
) -> None:
    body = alice.refusal(alice.post(audio), 422, "invalid_audio")
    assert body["errors"][0]["loc"] == ["file"]
    assert not alice.charges().exists()


def test_more_than_25_mb_is_refused(alice: Dictation) -> None:
    response = alice.post(alice.audio() + bytes(25 * 1024 * 1024))
    alice.refusal(response, 413, "payload_too_large")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"model": "nova-9"}, "There is no such model."),
        ({"model": "gpt-6-luna"}, "gpt-6-luna is not a speech model."),
        ({"language": "english"}, "two letters, like `en`"),
        ({"language": "en-"}, "two letters, like `en`"),
        ({"language": "d\n"}, "two letters, like `en`"),
    ],
)
def test_a_wish_that_makes_no_sense_is_named(
    alice: Dictation, fields: dict[str, str], problem: str
) -> None:
    body = alice.refusal(alice.post(None, headers=None, **fields), 422, "validation_failed")
    assert body["errors"][0]["loc"] == list(fields)
    assert problem in body["errors"][0]["msg"]


@pytest.mark.parametrize("model", MODELS.values())
def test_a_language_that_the_model_does_not_take_is_named(alice: Dictation, model: str) -> None:
    answer = alice.post(model=model, language="xx", headers=None)
    body = alice.refusal(answer, 422, "validation_failed")
    assert body["errors"][0]["loc"] == ["language"]
    assert "does not take `xx`" in body["detail"]


def test_what_else_a_provider_refuses_is_not_the_language(alice: Dictation) -> None:
    refused = alice.post(alice.audio(status=400), language="de")
    alice.refusal(refused, 400, "invalid_body")


def test_a_form_without_a_file_is_refused(alice: Dictation) -> None:
    http, headers = alice.speaker.http, alice.speaker.headers
    empty = http.post("/api/transcribe", files={"model": (None, "nova-3")}, headers=headers)
    assert alice.refusal(empty, 422, "validation_failed")["errors"][0]["loc"] == ["file"]
    text = http.post("/api/transcribe", json={"file": "words"}, headers=headers)
    alice.refusal(text, 415, "unsupported_media_type")


def test_a_stranger_is_asked_to_sign_in(alice: Dictation) -> None:
    response = alice.speaker.http.post("/api/transcribe", files={"file": b"audio"})
    alice.refusal(response, 401, "not_authenticated")


@pytest.mark.parametrize("plan", ["free", "max"])
def test_who_cannot_pay_is_told_before_the_provider_is_asked(
    dictation: NewDictation, plan: str
) -> None:
    poor = dictation(plan=plan, balance_usd=0)
    refused = poor.post()
    detail = refused.json()["detail"]
    assert (refused.status_code, detail["code"]) == (402, "insufficient_balance")
    assert detail["model_key"] == "gpt-transcribe"
    assert not poor.charges().exists()
    assert poor.calls() == []


def test_nothing_is_decoded_for_who_cannot_pay_for_a_moment(dictation: NewDictation) -> None:
    assert dictation(balance_usd=0).post(b"no audio").status_code == 402


def test_a_free_account_pays_from_its_balance_and_uses_no_free_message(
    dictation: NewDictation,
) -> None:
    rich = dictation(plan="free", balance_usd=1)
    assert rich.transcript()["usage"]["paid_by_balance_usd"] > 0
    [charge] = rich.charges()
    assert (charge.funding, charge.free_window_start) == ("customer", None)


def test_a_provider_that_is_not_configured_is_told_before_anything_is_held(
    alice: Dictation,
) -> None:
    """The recogniser of this machine does not run in tests."""
    alice.refusal(alice.post(model="pocketsphinx-en"), 503, "provider_unavailable")
    assert not alice.charges().exists()


# --- How a call fails -----------------------------------------------------------------------------

FAILURES = [
    ({"fail": "before"}, 502, "upstream_error"),
    ({"status": 500}, 502, "upstream_error"),
    ({"error_in_200": True}, 502, "upstream_error"),
    ({"truncate": True}, 502, "upstream_error"),
    ({"drop": True}, 502, "upstream_error"),
    ({"status": 401}, 502, "upstream_error"),
    ({"status": 402}, 502, "upstream_error"),
    ({"status": 400}, 400, "invalid_body"),
]


@pytest.mark.parametrize(("options", "status", "code"), FAILURES, ids=lambda value: str(value))
@pytest.mark.parametrize("model", ["gpt-transcribe", "nova-3"])
def test_a_provider_that_fails_bills_nothing(
    alice: Dictation, model: str, options: dict[str, Any], status: int, code: str
) -> None:
    response = alice.post(alice.audio(**options), model=model)
    alice.refusal(response, status, code)
    [charge] = alice.charges()
    assert (charge.status, charge.cost, charge.seconds) == ("released", 0, 0)


def test_who_was_turned_away_in_passing_is_served_at_the_second_try(alice: Dictation) -> None:
    audio = alice.audio(status=503, retry_after=0, times=1, text="Here.")
    assert alice.transcript(audio)["text"] == "Here."
    assert len(alice.calls()) == 2


def test_who_is_refused_alone_has_nothing_written_down(alice: Dictation) -> None:
    """Whose own calls of the model keep failing."""
    with refused_alone(alice.speaker.user.pk, "openai", "gpt-transcribe"):
        wait_for(lambda: alice.post(alice.audio()).status_code == 429)
        asked = len(alice.calls())
        paid = alice.charges().count()
        assert alice.post(alice.audio()).json()["code"] == "rate_limit_exceeded"
        assert (len(alice.calls()), alice.charges().count()) == (asked, paid)
    wait_for(lambda: alice.post(alice.audio()).status_code == 200)


def test_a_client_that_hangs_up_has_its_audio_written_down_and_billed(alice: Dictation) -> None:
    with sent(alice.request(alice.audio(delay_ms=2_000))):
        wait_for(alice.calls)
    wait_for(lambda: alice.charges().filter(status="settled").exists())
    [charge] = alice.charges()
    assert charge.seconds == 3


# --- Idempotency-Key ------------------------------------------------------------------------------


def named() -> dict[str, str]:
    return {"Idempotency-Key": f"memo {uuid4()}"}


def test_what_is_sent_again_is_written_down_and_billed_once(alice: Dictation) -> None:
    name, audio = named(), alice.audio(12.2, text="Once.")
    first, second = (alice.post(audio, headers=name, model="nova-3") for _ in range(2))

    assert first.status_code == second.status_code == 200
    assert second.json() == first.json()
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert len(alice.calls()) == len(alice.charges()) == 1


def test_who_has_nothing_left_gets_what_was_paid_for_again(dictation: NewDictation) -> None:
    poor = dictation(plan="free", balance_usd=0)
    least = 2 * cost_of("whisper-large-v3-turbo", 10)
    balance.topup(operation_id=uuid7(), account=poor.speaker.user, amount=least)
    name, audio = named(), poor.audio(text="Once.")
    assert poor.post(audio, headers=name, model="whisper-large-v3-turbo").status_code == 200

    again = poor.post(audio, headers=name, model="whisper-large-v3-turbo")

    assert (again.status_code, again.json()["text"]) == (200, "Once.")
    assert poor.post(audio, model="whisper-large-v3-turbo").status_code == 402


def test_other_audio_under_the_same_name_is_refused(alice: Dictation) -> None:
    name = named()
    alice.post(headers=name)
    for other in (
        alice.post(alice.audio(3), headers=name),
        alice.post(language="de", headers=name),
    ):
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert len(alice.calls()) == 1


def repeated(person: Dictation, delay_ms: int) -> httpx.Response:
    """The answer to a request that is sent again soon after a charge is held for the first, which
    goes well."""
    name, audio, before = named(), person.audio(delay_ms=delay_ms), person.charges().count()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(person.post, audio, headers=name)
        wait_for(lambda: person.charges().count() > before)
        again = person.post(audio, headers=name)
    assert first.result().status_code == 200
    return again


def test_what_still_runs_is_not_begun_again(alice: Dictation) -> None:
    """Where the first has ended before, on a busy machine, the next one runs longer."""
    for made, delay_ms in enumerate((2_000, 8_000, 24_000), start=1):
        again = repeated(alice, delay_ms)
        assert len(alice.calls()) == made
        if "idempotency-replayed" not in again.headers:
            break
    assert (again.status_code, again.json()["code"]) == (409, "idempotency_in_progress")


def test_what_failed_is_begun_again(alice: Dictation) -> None:
    name, audio = named(), alice.audio(status=500, times=1, text="Now.")
    assert alice.post(audio, headers=name).status_code == 502
    again = alice.post(audio, headers=name)
    assert (again.status_code, again.json()["text"]) == (200, "Now.")
    assert "idempotency-replayed" not in again.headers
