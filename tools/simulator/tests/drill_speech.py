"""Speech: the unmodified openai-python client, and Deepgram's interface by hand."""

import json

import httpx
import openai
import pytest

from simulator.tests.conftest import Caller
from simulator.tests.openai_client import client_of
from tests.audio import tone


def titled(caller: Caller, **options: object) -> bytes:
    """Two seconds of audio whose title steers the simulator."""
    return tone(2, "flac", title=f"@sim {json.dumps({'marker': caller.marker} | options)}")


def test_a_transcript_says_what_was_wished_for(caller: Caller) -> None:
    transcription = client_of(caller).audio.transcriptions.create(
        model="gpt-transcribe", file=("a.flac", titled(caller, text="Ten of clubs.")), language="en"
    )
    assert transcription.text == "Ten of clubs."
    assert transcription.usage is not None
    assert transcription.usage.type == "duration"
    assert transcription.usage.seconds == 2
    call = caller.entry()
    assert (call["kind"], call["model"], call["language"]) == ("speech", "gpt-transcribe", "en")
    assert (call["audio_seconds"], call["outcome"]) == (2.0, "completed")
    assert call["audio_bytes"] == len(titled(caller, text="Ten of clubs."))


def test_without_a_wish_it_says_how_long_the_audio_is(caller: Caller) -> None:
    audio = ("a.flac", tone(2, "flac"))
    transcription = client_of(caller).audio.transcriptions.create(
        model="gpt-transcribe", file=audio
    )
    assert "2 seconds of audio in the format flac" in transcription.text


def test_whisper_tells_the_language_where_it_shall_be_verbose(caller: Caller) -> None:
    transcription = client_of(caller).audio.transcriptions.create(
        model="whisper-1",
        file=("a.flac", titled(caller, text="Hello.")),
        response_format="verbose_json",
    )
    assert (transcription.text, transcription.language, transcription.duration) == (
        "Hello.",
        "english",
        2.0,
    )
    assert transcription.segments is not None
    assert transcription.segments[0].text == "Hello."


def test_the_prompt_steers_too(caller: Caller) -> None:
    transcription = client_of(caller).audio.transcriptions.create(
        model="gpt-transcribe", file=("a.wav", tone(1)), prompt=caller.prompt(text="Steered.")
    )
    assert transcription.text == "Steered."


def test_other_models_refuse_to_be_verbose(caller: Caller) -> None:
    with pytest.raises(openai.BadRequestError, match="not compatible with this model"):
        client_of(caller).audio.transcriptions.create(
            model="gpt-transcribe", file=("a.wav", tone(1)), response_format="verbose_json"
        )


@pytest.mark.parametrize("audio", [b"", b"no audio"])
def test_a_file_that_is_no_audio_is_refused(caller: Caller, audio: bytes) -> None:
    with pytest.raises(openai.BadRequestError, match="corrupted or unsupported"):
        client_of(caller).audio.transcriptions.create(model="gpt-transcribe", file=("a.wav", audio))


def test_a_form_without_a_file_is_refused(caller: Caller) -> None:
    url = caller.simulator.base_url("openai") + "/audio/transcriptions"
    assert caller.http.post(url, files={"model": (None, "gpt-transcribe")}).status_code == 400
    assert caller.http.post(url, json={"model": "gpt-transcribe"}).status_code == 400


@pytest.mark.parametrize(
    ("options", "failure"),
    [
        ({"status": 429}, openai.RateLimitError),
        ({"status": 500}, openai.InternalServerError),
        ({"fail": "before"}, openai.InternalServerError),
        ({"drop": True}, openai.APIConnectionError),
    ],
)
def test_faults_are_what_the_client_expects(
    caller: Caller, options: dict[str, object], failure: type[Exception]
) -> None:
    with pytest.raises(failure):
        client_of(caller).audio.transcriptions.create(
            model="gpt-transcribe", file=("a.flac", titled(caller, **options))
        )


def test_groq_names_its_requests(caller: Caller) -> None:
    url = caller.simulator.base_url("groq") + "/audio/transcriptions"
    files, fields = {"file": titled(caller)}, {"model": "whisper-large-v3-turbo"}
    assert caller.http.post(url, files=files, data=fields).json()["x_groq"]["id"].startswith("req_")


# --- Deepgram -------------------------------------------------------------------------------------


def listen(caller: Caller, audio: bytes, key: str = "Token alice", **query: str) -> httpx.Response:
    url = f"{caller.simulator.url}/deepgram/v1/listen"
    headers = {"authorization": key, "content-type": "audio/flac"}
    return caller.http.post(url, params={"model": "nova-3"} | query, content=audio, headers=headers)


def test_deepgram_hears_the_body(caller: Caller) -> None:
    response = listen(caller, titled(caller, text="Hello."), detect_language="true")
    answer = response.json()
    [channel] = answer["results"]["channels"]
    assert channel["alternatives"][0]["transcript"] == "Hello."
    assert channel["detected_language"] == "en"
    assert answer["metadata"]["duration"] == 2.0
    assert answer["metadata"]["request_id"] == caller.entry()["id"]
    assert response.headers["dg-request-id"] == f"req_{caller.entry()['id']}"


def test_deepgram_detects_no_language_that_it_was_told(caller: Caller) -> None:
    answer = listen(caller, titled(caller), language="de").json()
    assert "detected_language" not in answer["results"]["channels"][0]
    assert listen(caller, tone(1), language="de", detect_language="true").status_code == 400


@pytest.mark.parametrize("key", ["Bearer alice", "Token", "Token wrong", ""])
def test_deepgram_wants_a_token(caller: Caller, key: str) -> None:
    response = listen(caller, tone(1), key)
    assert (response.status_code, response.json()["err_code"]) == (401, "INVALID_AUTH")


def test_deepgram_fails_in_its_own_words(caller: Caller) -> None:
    response = listen(caller, titled(caller, status=402))
    assert response.status_code == 402
    assert set(response.json()) == {"err_code", "err_msg", "request_id"}
    assert listen(caller, b"no audio").json()["err_msg"].startswith("Audio file might be corrupted")
