"""What happens in a life, and when: a pure function of the seed.

Real time makes the outcomes vary, because processes and sockets race; the schedule never does.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

# Who acts. The poor one runs out of money, the leaver's account is deleted.
RICH = 3
POOR, LEAVER = 3, 4
PEOPLE = 5

# How often each act comes, in relation to the others.
ACTS = {
    "chat": 10,
    "embeddings": 3,
    "picture_call": 3,
    "transcript": 2,
    "reply": 6,
    "upload": 2,
    "drive": 1,
    "council": 4,
    "run": 2,
    "repository": 1,
    "picture": 3,
    "film": 2,
    "asset": 1,
    "topup": 3,
    "upgrade": 2,
    "refund": 2,
    "adjustment": 2,
    "switch": 1,
    "export": 1,
    "shared space": 2,
    "revocation": 1,
    "invitation": 1,
}
# The kinds of acts of people who are not asked for much.
CHEAP = ("chat", "embeddings", "reply", "topup")

# Providers that operators switch off: of the chat and picture models that are asked, and of films.
PROVIDERS = ("openai", "moonshot", "runway")

FAULTS = {
    "kill a web process": 3,
    "kill a worker": 3,
    "kill beat": 1,
    "freeze a web process": 2,
    "freeze a worker": 2,
    "cut statements before PostgreSQL": 3,
    "cut replies of PostgreSQL": 3,
    "cut off PostgreSQL": 2,
    "stall PostgreSQL": 2,
    "restart PostgreSQL": 1,
    "crash PostgreSQL": 1,
    "use up connections of PostgreSQL": 2,
    "fill the disk of PostgreSQL": 2,
    "slow down PostgreSQL": 1,
    "cut off Redis": 1,
    "flush Redis": 1,
    "freeze Redis": 1,
    "restart Redis": 1,
    "empty Redis": 1,
    "lose messages": 2,
    "repeat messages": 2,
    "fill the storage of files": 2,
    "cut off the providers": 2,
    "stall the providers": 1,
    "step the clock": 2,
}


@dataclass(frozen=True, slots=True)
class Act:
    """Something that a person does, `at` so many seconds. `options` depend on the kind."""

    number: int
    at: float
    kind: str
    person: int
    options: dict[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that the nemesis does, from `at` on for so many seconds. `pick` chooses among what
    there is to break."""

    at: float
    seconds: float
    kind: str
    pick: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """A life. `month_ends_at`: the database's clock is set so that a month ends then, in seconds of
    the life; None: the clock is right."""

    seed: int
    seconds: float
    month_ends_at: float | None
    acts: tuple[Act, ...]
    faults: tuple[Fault, ...]


def schedule(seed: int, seconds: float) -> Schedule:
    """The life of this seed, with so many seconds of traffic."""
    random = Random(f"{seed}/{float(seconds)}")  # noqa: S311 - no secret
    month_ends_at = round(random.uniform(1, seconds), 2) if random.random() < 0.25 else None
    acts = _acts(random, seconds)
    return Schedule(seed, seconds, month_ends_at, acts, _faults(random, seconds))


def _acts(random: Random, seconds: float) -> tuple[Act, ...]:
    count = round(seconds * 2.5)
    times = sorted(min(seconds, round(random.uniform(0, seconds), 2)) for _ in range(count))
    if random.random() < 0.3:
        # Late enough to have something that runs.
        leaving = round(random.uniform(seconds * 0.4, seconds * 0.8), 2)
    else:
        leaving = None
    acts = [_act(random, number, at, seconds, leaving) for number, at in enumerate(times)]
    if leaving is not None:
        acts.append(Act(len(acts), leaving, "departure", LEAVER, {}))
    return tuple(acts)


def _act(random: Random, number: int, at: float, seconds: float, leaving: float | None) -> Act:
    person = random.choices(range(PEOPLE), (4, 3, 3, 2, 2))[0]
    if person == LEAVER and leaving is not None and at >= leaving:
        person = 0
    kinds = CHEAP if person == POOR else tuple(ACTS)
    kind = random.choices(kinds, [ACTS[each] for each in kinds])[0]
    return Act(number, at, kind, person, _options(random, kind, seconds))


def _options(random: Random, kind: str, seconds: float) -> dict[str, Any]:
    """What is asked, and how the provider answers it."""
    chance = random.random
    named = {"named": chance() < 0.6}
    match kind:
        case "chat":
            stream = chance() < 0.6
            hangs_up = {"hangs_up": chance() < 0.15}
            return {"stream": stream, **named, **hangs_up, "steering": _text(random, seconds)}
        case "reply" | "upload":
            return {
                "named": True,
                "steering": _text(random, seconds, retried=True),
                "then": random.choice(["", "", "stop", "hang up", "regenerate"]),
            }
        case "council":
            models, then = random.randint(1, 3), random.choice(["", "regenerate", "merge"])
            return {"models": models, "then": then, "steering": _text(random, seconds)}
        case "run":
            then = random.choice(["", "", "cancel", "pause"])
            return {"parts": random.randint(1, 3), "then": then, "steering": _short(random)}
        case "repository":
            host, then = random.choice(["github", "gitlab"]), random.choice(["", "", "cancel"])
            parts = random.randint(1, 2)
            return {"host": host, "parts": parts, "then": then, "steering": _short(random)}
        case "embeddings":
            return named
        case "picture" | "film" | "asset" | "picture_call":
            return {**named, "steering": _media(random)}
        case "shared space":
            return {"steering": _short(random)}
        case "transcript":
            return {"seconds": random.choice([1, 2.5, 4]), "steering": _speech(random)}
    return _options_of_accounts(random, kind, seconds)


def _options_of_accounts(random: Random, kind: str, seconds: float) -> dict[str, Any]:
    match kind:
        case "topup" | "adjustment":
            return {"cents": random.randint(100, 5000)}
        case "upgrade":
            return {"plan": random.choice(["max", "advanced"])}
        case "revocation":
            return {"stream": False, "steering": {"tokens": 3}}
        case "refund":
            return {"share": random.choice([1, 2, 3])}
        case "switch":
            off = round(min(random.uniform(0.3, 2), seconds / 4), 2)
            return {"provider": random.choice(PROVIDERS), "seconds": off}
    return {}


def _text(random: Random, seconds: float, *, retried: bool = False) -> dict[str, Any]:
    """How a provider writes: at once or slowly, to the end or not."""
    steering: dict[str, Any] = {"tokens": random.choice([3, 20, 60, 150])}
    if random.random() < 0.7:
        steering["delay_ms"] = round(1000 * random.uniform(0.1, seconds / 3) / steering["tokens"])
    if random.random() < 0.2:
        steering["ttft_ms"] = random.randint(100, 2000)
    if random.random() < 0.2:
        steering |= {"reasoning_tokens": random.choice([5, 40]), "cached_tokens": 6}
    if not retried and random.random() < 0.2:
        name, fault = random.choice([("drop", True), ("fail", "before"), ("fail", "after")])
        steering[name] = fault
        if fault != "before" and random.random() < 0.7:
            steering["after_tokens"] = steering["tokens"] // 2
        if fault == "after":
            # Whoever does not read a stream waits for three attempts
            # (tools/bench/campaign/asking.py).
            longest = {"delay_ms": 1000 // steering["tokens"], "ttft_ms": 500}
            steering |= {
                each: min(steering[each], longest[each])
                for each in longest.keys() & steering.keys()
            }
    return steering


def _short(random: Random) -> dict[str, Any]:
    return {"tokens": random.choice([5, 30]), "delay_ms": random.choice([0, 20])}


def _media(random: Random) -> dict[str, Any]:
    """How a provider makes pictures and films."""
    steering: dict[str, Any] = {"delay_ms": random.choice([0, 500, 1500])}
    if random.random() < 0.2:
        steering |= random.choice([{"fail": "before"}, {"no_picture": True}])
    return steering


def _speech(random: Random) -> dict[str, Any]:
    """How a provider writes audio down."""
    steering: dict[str, Any] = {"delay_ms": random.choice([0, 300, 1500])}
    return steering | ({"fail": "before"} if random.random() < 0.2 else {})


def _faults(random: Random, seconds: float) -> tuple[Fault, ...]:
    """Some of them meet. All are over when the traffic is."""
    chosen = random.choices(list(FAULTS), list(FAULTS.values()), k=random.randint(2, 4))
    faults = []
    for kind in sorted(set(chosen)):
        at = round(random.uniform(0.5, seconds * 0.75), 2)
        # Longer than a lease (tools/bench/campaign/hurried.py), and its doubt: or not.
        longest = min(seconds - at, 9.0)
        faults.append(
            Fault(at, round(random.uniform(0.5, longest), 2), kind, random.randrange(100))
        )
    return tuple(sorted(faults, key=lambda fault: fault.at))
