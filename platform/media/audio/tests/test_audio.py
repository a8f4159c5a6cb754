"""Audio is measured by decoding it, whatever its headers say, in a process without any power."""

import io
import resource
import signal
import struct
import subprocess
import sys
import threading
import wave
from contextlib import suppress
from hashlib import shake_256

import av
import pytest
from av.audio.frame import AudioFrame
from av.audio.layout import AudioLayout

from common.confinement import BAD_FILE
from common.errors import ServiceUnavailable
from media.audio import decoder as audio_decoder
from media.audio import measuring as audio
from media.audio.decoder import CPU_SECONDS, MAX_RATE
from media.audio.measuring import MAX_SECONDS, InvalidAudio, Measured, check_end, samples
from tests.audio import FORMATS, speech, tone

# What an encoder puts before and after the sound, in seconds.
PADDING = 0.15
NAMES = {"m4a": "mp4", "mpga": "mp3"}


def measure(data: bytes) -> Measured:
    return audio.measure(data, owner="alice")


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_is_known_and_measured(form: str) -> None:
    measured = measure(tone(2.5, form))
    assert measured.format == NAMES.get(form, form)
    assert 2.5 <= measured.seconds < 2.5 + PADDING


def test_without_an_encoder_s_padding_it_is_exact() -> None:
    assert measure(speech()).seconds == 3.29


def test_the_samples_are_those_of_the_audio() -> None:
    with samples(tone(2.5, "flac"), seconds=10) as pcm:
        heard = pcm.read()
    assert heard == tone(2.5, "wav")[-len(heard) :]
    assert len(heard) == 2.5 * 16_000 * 2


def test_no_more_samples_come_than_were_asked_for() -> None:
    with samples(tone(5, "flac"), seconds=1) as pcm:
        assert 32_000 <= len(pcm.read()) < 48_000


def test_what_is_not_audio_has_no_samples() -> None:
    with samples(b"no audio", seconds=1) as pcm:
        assert pcm.read() == b""


# --- Who lies about the length --------------------------------------------------------------------


def test_an_mp4_whose_samples_claim_to_be_short_is_as_long_as_it_is() -> None:
    data = bytearray(tone(4, "m4a"))
    at = data.index(b"stts") + 8
    [entries] = struct.unpack_from(">I", data, at)
    for entry in range(entries):
        struct.pack_into(">I", data, at + 8 + 8 * entry, 1)
    assert 4 <= measure(bytes(data)).seconds < 4 + PADDING


def test_an_mp4_whose_edit_list_leaves_most_of_it_out_is_as_long_as_it_is() -> None:
    data = bytearray(tone(4, "m4a"))
    at = data.index(b"elst") + 8
    [entries] = struct.unpack_from(">I", data, at)
    struct.pack_into(">I", data, at + 4 + 12 * (entries - 1), 1)
    assert 4 <= measure(bytes(data)).seconds < 4 + PADDING


def test_files_in_a_row_are_as_long_as_all_of_them() -> None:
    for form in ("ogg", "mp3"):
        assert 6 <= measure(3 * tone(2, form)).seconds < 6 + 3 * PADDING


def test_a_header_that_claims_hours_is_not_believed() -> None:
    data = bytearray(tone(2, "flac"))
    data[21:26] = bytes([data[21] | 0x0F, 0xFF, 0xFF, 0xFF, 0xFF])  # STREAMINFO's total samples
    assert measure(bytes(data)).seconds == 2


def test_tags_may_be_in_any_encoding() -> None:
    artist = struct.pack("<4s4sI", b"INFO", b"IART", 6) + "Zoë\0\0\0".encode("latin-1")
    tags = struct.pack("<4sI", b"LIST", len(artist)) + artist
    assert measure(wav(1, bytes(32_000), tags=tags)).seconds == 1


def test_audio_that_is_cut_off_is_as_long_as_what_is_there() -> None:
    data = tone(4, "mp3")
    assert 1.8 <= measure(data[: len(data) // 2]).seconds <= 2.2


# --- What is not taken ----------------------------------------------------------------------------


def film(*, tracks: int) -> bytes:
    """A picture with that many audio tracks of two seconds."""
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as container:
        pictures = container.add_stream("mpeg4", rate=10)
        pictures.width = pictures.height = 32
        sounds = [av.open(io.BytesIO(tone(2, "m4a")), "r") for _ in range(tracks)]
        copies = [container.add_stream_from_template(sound.streams.audio[0]) for sound in sounds]
        for frame in (av.VideoFrame(32, 32, "yuv420p"), None):
            container.mux(pictures.encode(frame))
        for sound, copy in zip(sounds, copies, strict=True):
            for packet in sound.demux(audio=0):
                if packet.dts is not None:
                    packet.stream = copy
                    container.mux(packet)
    return file.getvalue()


def test_the_sound_of_a_film_is_measured() -> None:
    assert 2 <= measure(film(tracks=1)).seconds < 2 + PADDING


NOT_AUDIO = {
    "nothing": b"",
    "the beginning of a header": b"RIFF",
    "words": b"These are words.",
    "zeros": bytes(100_000),
    "noise": shake_256(b"noise").digest(100_000),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(1_000),
    "a playlist": b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
    "a list of files": b"ffconcat version 1.0\nfile '/etc/passwd'\n",
    "a session on the network": b"v=0\no=- 0 0 IN IP4 127.0.0.1\nm=audio 1 RTP/AVP 0\n",
}


@pytest.mark.parametrize("name", NOT_AUDIO)
def test_what_is_no_audio_is_refused(name: str) -> None:
    refuses(NOT_AUDIO[name])


def wav(tag: int, sound: bytes, *, bits: int = 16, tags: bytes = b"") -> bytes:
    """Bytes that a header says are of that format tag: 16 kHz, mono."""
    header = struct.pack("<4sIHHIIHH", b"fmt ", 16, tag, 1, 16_000, 32_000, 2, bits)
    body = b"WAVE" + header + tags + struct.pack("<4sI", b"data", len(sound)) + sound
    return struct.pack("<4sI", b"RIFF", len(body)) + body


def test_what_ffmpeg_has_no_decoder_for_is_refused() -> None:
    refuses(wav(0x1234, bytes(32_000)))
    refuses(wav(1, bytes(32_000), bits=0))


# Windows Media Audio 1 and 2, TrueSpeech, G.723.1, Sipro: FFmpeg would make sound of any bytes.
@pytest.mark.parametrize("tag", [0x160, 0x161, 0x22, 0x42, 0x130])
def test_a_decoder_that_is_not_listed_never_runs(tag: int) -> None:
    refuses(wav(tag, shake_256(b"noise").digest(64_000)))


def test_a_rate_of_nothing_is_refused() -> None:
    data = bytearray(wav(1, bytes(32_000)))
    data[24:28] = bytes(4)
    refuses(bytes(data))


def test_a_header_alone_is_refused() -> None:
    refuses(tone(1, "wav")[:44])


@pytest.mark.parametrize("tracks", [0, 2])
def test_a_film_needs_one_audio_track(tracks: int) -> None:
    refuses(film(tracks=tracks))


def refuses(data: bytes) -> None:
    with pytest.raises(InvalidAudio, match="not audio in a supported format") as refusal:
        measure(data)
    assert (refusal.value.code, refusal.value.status) == ("invalid_audio", 422)
    assert refusal.value.extra["errors"][0]["loc"] == ["file"]


def test_more_than_two_hours_are_refused() -> None:
    assert measure(silence(MAX_SECONDS)).seconds == MAX_SECONDS
    with pytest.raises(InvalidAudio, match="at most 7,200 seconds"):
        measure(silence(MAX_SECONDS + 1))


def silence(seconds: int, *, rate: int = 1_000, channels: int = 1) -> bytes:
    """With a byte for each sample."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(1)
        sound.setframerate(rate)
        sound.writeframes(bytes(rate * channels * seconds))
    return file.getvalue()


@pytest.mark.parametrize(("rate", "channels"), [(192_001, 1), (1_000, 9)])
def test_more_samples_a_second_than_anybody_needs_are_refused(rate: int, channels: int) -> None:
    refuses(silence(1, rate=rate, channels=channels))


def test_few_bytes_that_hold_too_many_samples_are_refused() -> None:
    data = dense(seconds=500)
    assert len(data) < 1_000_000
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    refuses(data)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started < CPU_SECONDS / 2


def dense(*, seconds: int) -> bytes:
    """Silence of eight channels and 192 kHz: the same packet again and again."""
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as container:
        stream = container.add_stream("flac", rate=MAX_RATE)
        stream.layout = AudioLayout("7.1")
        stream.codec_context.open()
        size = stream.codec_context.frame_size
        frame = AudioFrame(format="s16", layout="7.1", samples=size)
        frame.sample_rate, frame.pts = MAX_RATE, 0
        frame.planes[0].update(bytes(frame.planes[0].buffer_size))
        [encoded, *_] = [*stream.encode(frame), *stream.encode(None)]
        for number in range(seconds * MAX_RATE // size):
            packet = av.Packet(bytes(encoded))
            packet.stream, packet.time_base = stream, encoded.time_base
            packet.pts = packet.dts = number * size
            container.mux(packet)
    return file.getvalue()


def test_broken_audio_is_refused_or_measured_and_breaks_nothing() -> None:
    for form in FORMATS:
        sound = bytearray(speech(form))
        for place in range(100, len(sound), 997):
            sound[place] ^= 0x5A
        with suppress(InvalidAudio):
            assert 0 < measure(bytes(sound)).seconds < 10


@pytest.mark.parametrize(
    ("status", "is_told"),
    [(65, False), (-signal.SIGXCPU, False), (-signal.SIGSEGV, True), (-signal.SIGABRT, True)],
)
def test_a_file_that_breaks_the_decoder_is_refused_and_we_are_told(
    status: int, is_told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(InvalidAudio, match="not audio in a supported format"):
        check_end(status, is_late=False)
    assert ("audio.decoder_broke" in caplog.text) == is_told


@pytest.mark.parametrize("status", [1, 2, 120, 127])
def test_a_decoder_that_is_broken_itself_is_none_of_the_file_s_doing(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ServiceUnavailable):
        check_end(status, is_late=False)
    assert "audio.decoder_broke" in caplog.text


def test_a_decoder_that_the_system_kills_is_none_of_the_file_s_doing() -> None:
    with pytest.raises(ServiceUnavailable):
        check_end(-signal.SIGKILL, is_late=False)


# --- Who measures, and for how long ---------------------------------------------------------------


def test_what_is_not_measured_in_time_may_be_audio_all_the_same() -> None:
    with pytest.raises(ServiceUnavailable):
        audio.measure(speech(), owner="alice", timeout=0.01)


def test_nobody_keeps_others_from_having_theirs_measured() -> None:
    long = dense(seconds=300)
    ended: list[int] = []

    def insist(number: int) -> None:
        measure(long)
        ended.append(number)

    threads = [threading.Thread(target=insist, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    # Until they stand before the decoder.
    threading.Event().wait(0.2)
    audio.measure(speech(), owner="bob")

    assert len(ended) <= 1
    for thread in threads:
        thread.join()
    assert len(ended) == 3


# --- The decoder's own process --------------------------------------------------------------------


def test_without_what_it_needs_it_calls_nothing_no_audio() -> None:
    """Where nothing is installed it can decode nothing."""
    ended = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-I", "-S", audio_decoder.__file__, "measure", "60"],
        input=speech(),
        capture_output=True,
        check=False,
    )
    assert ended.returncode not in (0, BAD_FILE)
    with pytest.raises(ServiceUnavailable):
        check_end(ended.returncode, is_late=False)
