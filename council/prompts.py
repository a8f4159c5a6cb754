"""What the models are asked."""

from council.models import Card, Session, Version
from council.selectors.threads import ancestors_of, question_of
from providers.types import Message


def messages_for(session: Session, card: Card, version: Version) -> tuple[Message, ...]:
    """The conversation that a version answers. A card sees its own thread alone."""
    system = (Message("system", session.system),) if session.system else ()
    return (*system, *_thread(card, version))


def _thread(card: Card, version: Version) -> list[Message]:
    said = [Message("user", question_of(card))]
    for earlier in ancestors_of(version):
        if earlier.message is not None:
            said.append(Message("user", earlier.message.content))
        said.append(Message("assistant", earlier.generation.content))
    if version.message is not None:
        said.append(Message("user", version.message.content))
    if version.instructions:
        said[-1] = Message("user", f"{said[-1].text}\n\n{version.instructions}")
    return said
