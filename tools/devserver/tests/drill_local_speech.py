"""The recogniser of the local default: real speech comes out as words, whatever its format."""

import socket
import sys
import threading
import time
from array import array
from collections.abc import Iterator

import httpx
import openai
import pytest

from devserver.paths import PYTHONPATH
from devserver.ports import LOOPBACK, answers, free_port
from devserver.processes import Process
from devserver.recogniser import RATE
from devserver.service import Service
from devserver.speech import MAX_SECONDS, NAME
from media.audio.measuring import samples
from tests.audio import encoded, speech, tone


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where one listens."""
    port = free_port()
    service = Service(
        name="speech",
        command=(sys.executable, "-m", "devserver.speech", "--port", str(port)),
        env={"PYTHONPATH": PYTHONPATH},
        is_ready=lambda: answers(port, "/health"),
    )
    process = Process(service)
    try:
        process.wait_until_ready(timeout=60)
        yield port
    finally:
        process.stop()


@pytest.fixture
def client(port: int) -> Iterator[openai.OpenAI]:
    url = f"http://{LOOPBACK}:{port}/v1"
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


def transcript(client: openai.OpenAI, audio: bytes) -> str:
    return client.audio.transcriptions.create(model=NAME, file=("a", audio)).text


@pytest.mark.parametrize("form", ["flac", "mp3", "m4a", "ogg", "wav", "webm"])
def test_speech_is_recognised(client: openai.OpenAI, form: str) -> None:
    """Of "he might even have been made amiable himself", at least that."""
    assert "might even have been made" in transcript(client, speech(form))


def test_pauses_are_heard_over(client: openai.OpenAI) -> None:
    assert transcript(client, 2 * speech("mp3")).count("even have been made") == 2


def test_a_tone_has_no_words(client: openai.OpenAI) -> None:
    assert transcript(client, tone(0.2)) == ""


@pytest.mark.parametrize("seconds", [0.03, 0.3, 3])
def test_silence_has_no_words(client: openai.OpenAI, seconds: float) -> None:
    """Nor is it an error where it ends with a frame of the recogniser's: they last 30 ms."""
    assert transcript(client, encoded(array("h", bytes(2 * int(seconds * RATE))), "wav")) == ""


def test_speech_at_the_very_end_is_recognised(client: openai.OpenAI) -> None:
    """Whether that is the end of a frame, as here at first, or not."""
    with samples(speech(), seconds=10) as pcm:
        said = array("h", pcm.read())[: int(2.4 * RATE)]
    heard = transcript(client, encoded(said, "wav"))
    assert heard.startswith("he might even have been made")
    assert heard == transcript(client, encoded(said + array("h", [0]), "wav"))


def test_a_file_that_is_no_audio_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="not audio in a supported format"):
        transcript(client, b"no audio")


def test_more_than_ten_minutes_are_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match=f"at most {MAX_SECONDS} seconds"):
        transcript(client, 61 * tone(10, "mp3"))


def test_another_language_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="English alone"):
        client.audio.transcriptions.create(model=NAME, file=("a", speech()), language="de")


@pytest.mark.parametrize("body", [b"", b"words", bytes(1_000)])
def test_a_body_that_is_no_form_is_refused(port: int, body: bytes) -> None:
    url = f"http://{LOOPBACK}:{port}/v1/audio/transcriptions"
    assert httpx.post(url, content=body).status_code == 400
    assert httpx.get(url).status_code == 404


def test_a_request_is_refused_when_many_wait(port: int, client: openai.OpenAI) -> None:
    statuses: list[str] = []

    def ask() -> None:
        try:
            statuses.append(transcript(client, speech()))
        except openai.InternalServerError as refusal:
            statuses.append(str(refusal.status_code))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses.count("503") == 2
    assert transcript(client, speech()).startswith("he might")


def test_the_audio_of_a_client_that_hung_up_is_not_transcribed(
    port: int, client: openai.OpenAI
) -> None:
    """Else what he sent would be in the way of everybody, for forty times as long as this."""
    begun = time.monotonic()
    transcript(client, speech())
    usual = time.monotonic() - begun
    form = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        + 40 * speech("mp3")
        + b"\r\n--b--\r\n"
    )
    head = (
        f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: {LOOPBACK}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(form)}\r\n\r\n"
    )
    with socket.create_connection((LOOPBACK, port)) as connection:
        connection.sendall(head.encode() + form)
        time.sleep(1)
    begun = time.monotonic()
    assert transcript(client, speech()).startswith("he might")
    assert time.monotonic() - begun < 10 * usual
