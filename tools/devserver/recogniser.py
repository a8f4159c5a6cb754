"""PocketSphinx, with the English model of its wheel: it recognises one voice at a time, and not
well."""

from collections.abc import Callable, Iterator
from typing import IO

from pocketsphinx import Decoder, Endpointer

RATE = 16_000  # Hz: of the model
# A longer stretch without a pause is cut: between two pieces the program checks whether the client
# still waits, and recognising takes nearly half as long as speaking.
_LONGEST_STRETCH = 15 * RATE * 2  # bytes
_SAMPLE = bytes(2)  # of silence


class GivenUp(Exception):
    """Nobody waits for the words any more."""


class Recogniser:
    """Turns samples (16 kHz, mono, signed 16 bits) into English words, in lower case."""

    def __init__(self) -> None:
        self._decoder = Decoder(samprate=RATE, loglevel="FATAL")

    def recognise(self, pcm: IO[bytes], is_wanted: Callable[[], bool]) -> str:
        """The words in `pcm`. Raises GivenUp where they are not wanted any more."""
        words = []
        for stretch in _stretches(pcm):
            if not is_wanted():
                raise GivenUp
            words.append(self._words(stretch))
        return " ".join(filter(None, words))

    def _words(self, stretch: bytes) -> str:
        """The words of a stretch. Given whole, it is normalised as a whole, and recognised
        better."""
        self._decoder.start_utt()
        self._decoder.process_raw(stretch, full_utt=True)
        self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return str(hypothesis.hypstr) if hypothesis else ""


def _stretches(pcm: IO[bytes]) -> Iterator[bytes]:
    """The stretches of speech between pauses."""
    endpointer = Endpointer(sample_rate=RATE)
    stretch = b""
    while len(frame := pcm.read(endpointer.frame_bytes)) == endpointer.frame_bytes:
        stretch += endpointer.process(frame) or b""
        if stretch and (not endpointer.in_speech or len(stretch) > _LONGEST_STRETCH):
            yield stretch
            stretch = b""
    # It accepts no empty frame, and still has the last part of an open stretch.
    if stretch := stretch + (endpointer.end_stream(frame or _SAMPLE) or b""):
        yield stretch
