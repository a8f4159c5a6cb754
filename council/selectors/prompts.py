"""The messages for the models."""

from ai.providers.types import Message
from council.models import Card, Session, Version
from council.prompts_debate import debate_prompt
from council.prompts_merge import Source, merge_prompt
from council.selectors.rounds import answers_before
from council.selectors.sources import is_merge, sources_of
from council.selectors.threads import ancestors_of, asked_of, question_of
from council.types import MergeMode


def messages_for(session: Session, card: Card, version: Version) -> tuple[Message, ...]:
    """The conversation that a version answers. A card sees its own thread alone, except in a merge
    and a round of debate, which are about others' answers."""
    system = (Message("system", session.system),) if session.system else ()
    if is_merge(version):
        return (*system, _merge(version))
    thread = _thread(card, version)
    if version.source == Version.Source.DEBATE:
        thread += _debate(version)
    return (*system, *thread)


def _thread(card: Card, version: Version) -> list[Message]:
    messages = [Message("user", question_of(card))]
    for earlier in ancestors_of(version):
        if earlier.message is not None:
            messages.append(Message("user", earlier.message.content))
        messages.append(Message("assistant", earlier.generation.content))
    if version.message is not None:
        messages.append(Message("user", version.message.content))
    if version.instructions:
        messages[-1] = Message("user", f"{messages[-1].text}\n\n{version.instructions}")
    return messages


def _merge(version: Version) -> Message:
    """A repeated merge may have further instructions."""
    sources = [
        Source(label, asked_of(source.card, source), source.generation.content)
        for label, source in sources_of(version)
    ]
    instructions = (version.details["instructions"], version.instructions)
    return Message("user", merge_prompt(sources, MergeMode(version.details["mode"]), instructions))


def _debate(version: Version) -> list[Message]:
    """The answers are those before the round, so that the order of the calls does not matter."""
    params = version.generation.turn.params
    answers = answers_before(version.generation.turn, version.details["round"])
    own = params["labels"][str(version.card_id)]
    prompt = debate_prompt(
        {label: text for label, text in answers.items() if label != own}, own, params["focus"]
    )
    return [Message("assistant", answers[own]), Message("user", prompt)]
