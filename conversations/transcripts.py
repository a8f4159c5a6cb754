"""What an audio file says, and what that has cost."""

from msgspec import Struct

from ai.inference.types import SpeechAnswer
from billing.selectors.charges import ChargeUsage


class Transcription(Struct, frozen=True):
    """A transcript and its usage, which is None while it is not known. `is_replayed`: an earlier
    request made it."""

    answer: SpeechAnswer
    usage: ChargeUsage | None
    is_replayed: bool
