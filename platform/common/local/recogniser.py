"""PocketSphinx, with the English model of its wheel: it hears one voice at a time, and not well."""

from collections.abc import Callable, Iterator
from typing import IO

from pocketsphinx import Decoder, Endpointer

RATE = 16_000  # Hz: of the model
# A longer stretch without a pause is heard in pieces: whether anybody waits for the words is asked
# between two, and a stretch takes nearly half as long to hear as it did to say.
_LONGEST_STRETCH = 15 * RATE * 2  # bytes
_SAMPLE = bytes(2)  # of silence


class GivenUp(Exception):
    """Nobody waits for the words any more."""


class Recogniser:
    """Turns samples (16 kHz, mono, signed 16 bits) into English words, in lower case."""

    def __init__(self) -> None:
        self._decoder = Decoder(samprate=RATE, loglevel="FATAL")

    def hear(self, pcm: IO[bytes], is_wanted: Callable[[], bool]) -> str:
        """The words in all that `pcm` brings. Raises GivenUp where they are not wanted any more."""
        words = []
        for stretch in _stretches(pcm):
            if not is_wanted():
                raise GivenUp
            words.append(self._words(stretch))
        return " ".join(filter(None, words))

    def _words(self, stretch: bytes) -> str:
        """Given whole, a stretch is normalised as a whole, and understood better."""
        self._decoder.start_utt()
        self._decoder.process_raw(stretch, full_utt=True)
        self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return str(hypothesis.hypstr) if hypothesis else ""


def _stretches(pcm: IO[bytes]) -> Iterator[bytes]:
    """What is speech, from one pause to the next."""
    endpointer = Endpointer(sample_rate=RATE)
    stretch = b""
    while len(frame := pcm.read(endpointer.frame_bytes)) == endpointer.frame_bytes:
        stretch += endpointer.process(frame) or b""
        if stretch and (not endpointer.in_speech or len(stretch) > _LONGEST_STRETCH):
            yield stretch
            stretch = b""
    # It takes no empty frame, and still has the last of a stretch that is open.
    if stretch := stretch + (endpointer.end_stream(frame or _SAMPLE) or b""):
        yield stretch
