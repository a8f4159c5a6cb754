"""Speech wires: what goes out, what is heard of what comes back, and how a call fails."""

import json
import time
from collections.abc import Callable
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qsl, urlsplit

import pytest

from ai.providers.config import ProviderConfig
from ai.providers.deepgram import Deepgram
from ai.providers.errors import ProviderError, ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.languages import iso_code
from ai.providers.openai_speech import OpenAISpeech
from ai.providers.speech import MAX_ANSWER, MEDIA_TYPES
from ai.providers.types import Deadlines, SpeechRequest, SpeechWire, Transcript
from common.http import UpstreamClient
from common.tests.upstream import JSON, Answer, Call, Upstream
from media.audio.measuring import AudioFormat

from .media import AMPLE, answer

MakeSpeechWire = Callable[[ProviderConfig, UpstreamClient], SpeechWire]

# Whatever stands in it, a boundary of ours is not.
AUDIO = b"\r\n--boundary\r\n\0\xff audio \r\n"


def request_of(
    model: str = "some-model", form: AudioFormat = "flac", language: str | None = None
) -> SpeechRequest:
    return SpeechRequest(model, AUDIO, form, language)


@pytest.fixture
def openai(upstream: Upstream, client: UpstreamClient) -> OpenAISpeech:
    return OpenAISpeech(ProviderConfig("openai", None, upstream.url, "sk-of-the-platform"), client)


@pytest.fixture
def deepgram(upstream: Upstream, client: UpstreamClient) -> Deepgram:
    return Deepgram(ProviderConfig("deepgram", None, upstream.url, "dg-of-the-platform"), client)


@pytest.fixture(params=[OpenAISpeech, Deepgram])
def wire(request: pytest.FixtureRequest, upstream: Upstream, client: UpstreamClient) -> SpeechWire:
    make: MakeSpeechWire = request.param
    return make(ProviderConfig("any", None, upstream.url, "key-of-the-platform"), client)


def fields_of(call: Call) -> dict[str, bytes]:
    """The fields of a form, by their names; `file` also as its name and its type."""
    head = f"Content-Type: {call.headers['content-type']}\r\n\r\n".encode()
    fields = {}
    for part in BytesParser(policy=HTTP).parsebytes(head + call.body).iter_parts():
        name = str(part.get_param("name", header="content-disposition"))
        fields[name] = part.get_payload(decode=True)
        if part.get_filename():
            fields["name"], fields["type"] = (
                str(part.get_filename()).encode(),
                part.get_content_type().encode(),
            )
    return fields  # type: ignore[return-value]


def heard(text: str, **more: object) -> dict[str, object]:
    """Deepgram's answer; `more` stands beside the alternatives."""
    return {"results": {"channels": [{"alternatives": [{"transcript": text}], **more}]}}


# --- What goes out --------------------------------------------------------------------------------


async def test_openai_is_sent_a_form(upstream: Upstream, openai: OpenAISpeech) -> None:
    upstream.answer = answer({"text": "Hello."})
    await openai.transcribe(request_of(language="de"), AMPLE)
    (call,) = upstream.calls
    assert (call.method, call.path) == ("POST", "/v1/audio/transcriptions")
    assert call.headers["authorization"] == "Bearer sk-of-the-platform"
    assert fields_of(call) == {
        "model": b"some-model",
        "response_format": b"json",
        "language": b"de",
        "file": AUDIO,
        "name": b"audio.flac",
        "type": b"audio/flac",
    }


async def test_whisper_is_asked_for_the_language_that_it_heard(
    upstream: Upstream, openai: OpenAISpeech
) -> None:
    upstream.answer = answer({"text": "Hallo.", "language": "German", "duration": 2.5})
    transcript = await openai.transcribe(request_of("whisper-large-v3"), AMPLE)
    assert transcript == Transcript("Hallo.", "de")
    fields = fields_of(upstream.calls[0])
    assert fields["response_format"] == b"verbose_json"
    assert "language" not in fields


async def test_deepgram_is_sent_the_audio_itself(upstream: Upstream, deepgram: Deepgram) -> None:
    upstream.answer = answer(heard("Hello."))
    await deepgram.transcribe(request_of("nova-3", "mp3", "de"), AMPLE)
    (call,) = upstream.calls
    path = urlsplit(call.path)
    assert (call.method, path.path, call.body) == ("POST", "/v1/listen", AUDIO)
    assert dict(parse_qsl(path.query)) == {
        "model": "nova-3",
        "smart_format": "true",
        "language": "de",
    }
    assert call.headers["authorization"] == "Token dg-of-the-platform"
    assert call.headers["content-type"] == "audio/mpeg"


async def test_deepgram_finds_the_language_out_by_itself(
    upstream: Upstream, deepgram: Deepgram
) -> None:
    upstream.answer = answer(heard("Hello.", detected_language="en-US"))
    assert await deepgram.transcribe(request_of(), AMPLE) == Transcript("Hello.", "en")
    query = dict(parse_qsl(urlsplit(upstream.calls[0].path).query))
    assert query["detect_language"] == "true"
    assert "language" not in query


@pytest.mark.parametrize("form", MEDIA_TYPES)
async def test_the_format_is_told(
    upstream: Upstream, openai: OpenAISpeech, form: AudioFormat
) -> None:
    upstream.answer = answer({"text": ""})
    await openai.transcribe(request_of(form=form), AMPLE)
    fields = fields_of(upstream.calls[0])
    assert fields["name"] == f"audio.{form}".encode()
    assert fields["type"] == MEDIA_TYPES[form].encode()


async def test_who_needs_no_key_is_sent_none(upstream: Upstream, client: UpstreamClient) -> None:
    upstream.answer = answer({"text": ""})
    local = OpenAISpeech(ProviderConfig("local_speech", None, upstream.url, ""), client)
    await local.transcribe(request_of(), AMPLE)
    assert "authorization" not in upstream.calls[0].headers


# --- What comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "Grüße, 世界", "One.\nTwo."])
async def test_the_words_are_passed_on(upstream: Upstream, wire: SpeechWire, text: str) -> None:
    upstream.answer = answer({"text": text, **heard(text)})
    assert (await wire.transcribe(request_of(), AMPLE)).text == text


async def test_the_words_are_made_harmless(upstream: Upstream, wire: SpeechWire) -> None:
    upstream.answer = answer({"text": " a\0b\n", **heard(" a\0b\n")})
    assert (await wire.transcribe(request_of(), AMPLE)).text == "ab"


@pytest.mark.parametrize("language", [None, 7, "", "klingon", {"code": "en"}])
async def test_a_language_that_is_none_is_the_one_that_was_asked_for(
    upstream: Upstream, wire: SpeechWire, language: object
) -> None:
    upstream.answer = answer(
        {"text": "", "language": language, **heard("", detected_language=language)}
    )
    assert (await wire.transcribe(request_of(language="de"), AMPLE)).language == "de"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("english", "en"),
        ("German", "de"),
        ("en", "en"),
        ("en-US", "en"),
        ("zh-TW", "zh"),
        (" FR ", "fr"),
        ("cantonese", None),
        ("haw", None),
        ("", None),
        ("世界", None),
    ],
)
def test_languages_have_codes_of_two_letters(name: str, code: str | None) -> None:
    assert iso_code(name) == code


# --- How it fails ---------------------------------------------------------------------------------


async def failure_of(wire: SpeechWire, deadlines: Deadlines = AMPLE) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        await wire.transcribe(request_of(), deadlines)
    return failure.value


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"text": None},
        {"text": 7},
        {"results": {}},
        {"results": {"channels": []}},
        {"results": {"channels": [{"alternatives": []}]}},
        {"results": {"channels": [{"alternatives": [{"transcript": None}]}]}},
    ],
)
async def test_nonsense_is_a_failure_and_not_asked_for_again(
    upstream: Upstream, wire: SpeechWire, document: object
) -> None:
    upstream.answer = answer(document)
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable


async def test_what_is_no_text_is_a_failure(upstream: Upstream, wire: SpeechWire) -> None:
    for body in (b"Hello.", b'{"text": "Hel', b"\xff\xfe", b""):
        upstream.answer = Answer([body], 200, JSON)
        assert isinstance(await failure_of(wire), UpstreamError)


@pytest.mark.parametrize(
    ("status", "retryable"), [(429, True), (503, True), (500, False), (502, False), (504, False)]
)
async def test_only_who_was_turned_away_may_come_again(
    upstream: Upstream, wire: SpeechWire, status: int, retryable: bool
) -> None:
    upstream.answer = answer({"error": {"message": "busy"}}, status)
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable is retryable
    assert len(upstream.calls) == 1


async def test_a_refusal_in_the_words_of_each_is_understood(
    upstream: Upstream, deepgram: Deepgram, openai: OpenAISpeech
) -> None:
    corrupt = {"err_code": "Bad Request", "err_msg": "failed to process audio", "request_id": "1"}
    upstream.answer = answer(corrupt, 400)
    assert str(await failure_of(deepgram)) == "failed to process audio"
    upstream.answer = answer({"error": {"message": "Audio file is corrupted."}}, 400)
    refusal = await failure_of(openai)
    assert isinstance(refusal, RequestRefused)
    assert str(refusal) == "Audio file is corrupted."


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_what_is_wrong_with_our_account_is_not_told(
    upstream: Upstream, wire: SpeechWire, status: int
) -> None:
    upstream.answer = answer({"err_msg": "Project 7 is out of credits."}, status)
    failure = await failure_of(wire)
    assert isinstance(failure, ProviderUnavailable)
    assert "Project 7" not in str(failure)


async def test_it_is_over_in_time(upstream: Upstream, wire: SpeechWire) -> None:
    upstream.answer = Answer([b'{"text": '], 200, JSON, ending="hanging")
    begun = time.monotonic()
    failure = await failure_of(wire, Deadlines(connect=0.5, total=0.5))
    assert isinstance(failure, UpstreamError)
    assert time.monotonic() - begun < 3


async def test_an_answer_without_end_is_not_read_to_its_end(
    upstream: Upstream, wire: SpeechWire
) -> None:
    piece = json.dumps({"text": "a" * 2**20}).encode()
    upstream.answer = Answer([piece] * (MAX_ANSWER // 2**20 + 2), 200, JSON)
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
