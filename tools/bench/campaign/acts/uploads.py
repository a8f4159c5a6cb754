"""Files of people: one is uploaded and asked about, or audio is written down."""

from bench.campaign.acts import replies
from bench.campaign.asking import Asker
from bench.campaign.notes import Answer
from tests.audio import tone

UPLOADS, TRANSCRIPTS = "/api/uploads", "/api/transcribe"
_LINES = 200


def upload(asker: Asker) -> None:
    """A text is uploaded, and sent with a message. Attempts that were not answered may have left
    uploads, which expire."""
    note = asker.note
    content = f"The sea is deep, says {note.marker}.\n" * _LINES
    answer = asker.ask("POST", UPLOADS, file=("sea.txt", content.encode(), "text/plain"))
    if answer.status_code != 201:
        note.seen["refusal"] = answer.json()["code"]
        return
    note.seen["uploads"] = {answer.json()["id"]: content}
    replies.reply(asker)


def transcript(asker: Asker) -> None:
    note = asker.note
    options = note.act.options
    audio = tone(options["seconds"], title=asker.steering_line(options["steering"]))
    answer = asker.ask("POST", TRANSCRIPTS, file=("memo.wav", audio, "audio/wav"), name=note.name)
    if answer.status_code == 200:
        note.answers.append(Answer("", answer.json()["text"], {}))
    else:
        note.seen["refusal"] = answer.json()["code"]
