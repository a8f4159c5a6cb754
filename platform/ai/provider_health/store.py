"""What all processes share of the health of providers, in Redis. It may be lost at any time.

| key | type | what |
|---|---|---|
| `health:circuits:2` | hash | a `Circuit` for each provider and model; `2` is its form |
| `health:refused` | sorted set | callers that are refused, by the ends of their refusals |
| `health:rows` | hash | failures in a row, by caller and model |
| `health:failed:…` | hash | failed calls by payer, in a period of FAILED_CALLS_SECONDS |
| `health:keys` | hash | the rests of our keys, by their names |
| `health:switches` | number | changes with every act of an operator's |
| `health:calls:…:MINUTE` | hash | the statistics of a minute, for 20 minutes |
| `health:failures:PROVIDER` | list | the last failures, for a day |
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
from django.conf import settings
from msgspec import Struct
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ai.provider_health.callers import LONGEST_PAUSE, MAX_REFUSED, CallerRules, Share
from ai.provider_health.circuit import CLOSED, Circuit, Event, Rules, after
from ai.provider_health.name import Name
from ai.provider_health.statistics import MINUTE, Statistics, read
from ai.provider_health.status_cache import MAX_FAILURES, FailureNote
from ai.providers.keys import Rest

TIMEOUT = 0.5  # seconds
MAX_ATTEMPTS = 20
_CIRCUITS, _KEYS, _SWITCHES = "health:circuits:2", "health:keys", "health:switches"
_REFUSED, _ROWS = "health:refused", "health:rows"
_KEPT_CIRCUITS = 3600  # seconds
_KEPT_STATISTICS = 20 * MINUTE
_KEPT_FAILURES = 86_400  # seconds

# KEYS: the hash; ARGV: field, value that it has to have ("": none), new value ("": none), seconds.
_COMPARE_AND_SET = """
local found = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if found ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('EXPIRE', KEYS[1], ARGV[4])
end
return 1
"""

_decode_circuit = msgspec.msgpack.Decoder(Circuit).decode
_decode_rest = msgspec.msgpack.Decoder(Rest).decode
_decode_note = msgspec.msgpack.Decoder(FailureNote).decode
_encode = msgspec.msgpack.encode


class News(Struct, frozen=True):
    """What all processes know together. `now` is the time of Redis, in Unix seconds; `refused` has
    the callers that are refused, with the ends of their refusals; `are_rows`: calls of some fail in
    a row."""

    now: float
    circuits: dict[Name, Circuit]
    refused: dict[str, float]
    are_rows: bool
    rests: dict[str, Rest]
    switches: int


class Store:
    """Redis, for one thread or several. Every method raises RedisError where it is away."""

    def __init__(self) -> None:
        self._redis: Redis = Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
            retry=Retry(NoBackoff(), 0),
        )
        self._compare_and_set = self._redis.register_script(_COMPARE_AND_SET)

    def read(self, now: float | None = None) -> News:
        """All of it but the statistics and the failures. `now`, as far as the reader knows it:
        refusals that are over by then are left out."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.time()
        pipe.hgetall(_CIRCUITS)
        pipe.hgetall(_KEYS)
        pipe.get(_SWITCHES)
        pipe.zrevrangebyscore(
            _REFUSED, "+inf", now or 0.0, start=0, num=MAX_REFUSED, withscores=True
        )
        pipe.exists(_ROWS)
        (seconds, micros), circuits, rests, switches, refused, are_rows = pipe.execute()
        return News(
            seconds + micros / 1_000_000,
            {_name(field): _circuit(value) for field, value in circuits.items()},
            {key.decode(): until for key, until in refused},
            bool(are_rows),
            {field.decode(): rest for field, value in rests.items() if (rest := _rest(value))},
            int(switches or 0),
        )

    def update(
        self, name: Name, events: Iterable[Event], now: float, rules: Rules
    ) -> tuple[Circuit, Circuit]:
        """Apply events to a circuit, as one step for all processes. Returns the circuit before and
        after them."""
        events, field = list(events), "/".join(name)
        for _ in range(MAX_ATTEMPTS):
            stored = cast(bytes, self._redis.hget(_CIRCUITS, field) or b"")
            before = following = _circuit(stored) if stored else CLOSED
            for event in events:
                following = after(following, event, now, rules)
            if following == before:
                return before, before
            value = b"" if following == CLOSED else _encode(following)
            arguments: list[str | bytes | int] = [field, stored, value, _KEPT_CIRCUITS]
            if self._compare_and_set(keys=[_CIRCUITS], args=arguments):
                return before, following
        raise TimeoutError

    def add_statistics(self, statistics: Mapping[tuple[Name, int], Counter[str]]) -> None:
        """Add up what the calls of this process have counted."""
        pipe = self._redis.pipeline(transaction=False)
        for (name, minute), fields in statistics.items():
            key = _minute_key(name, minute)
            for field, count in fields.items():
                pipe.hincrby(key, field, count)
            pipe.expire(key, _KEPT_STATISTICS)
        pipe.execute()

    def read_statistics(self, names: Iterable[Name], minutes: Iterable[int]) -> Statistics:
        """The calls of these circuits in these minutes together."""
        minutes = list(minutes)
        pipe = self._redis.pipeline(transaction=False)
        for name in names:
            for minute in minutes:
                pipe.hgetall(_minute_key(name, minute))
        total: Counter[str] = Counter()
        for fields in pipe.execute():
            total.update({field.decode(): int(count) for field, count in fields.items()})
        return read(total)

    def add_failures(self, failures: Mapping[str, Iterable[FailureNote]]) -> None:
        """Keep failures of each provider."""
        pipe = self._redis.pipeline(transaction=False)
        for provider, notes in failures.items():
            key = f"health:failures:{provider}"
            pipe.lpush(key, *map(_encode, notes))
            pipe.ltrim(key, 0, MAX_FAILURES - 1)
            pipe.expire(key, _KEPT_FAILURES)
        pipe.execute()

    def read_failures(self, provider: str) -> list[FailureNote]:
        """The last failures of a provider, the newest first."""
        kept = cast(list[bytes], self._redis.lrange(f"health:failures:{provider}", 0, -1))
        return [_decode_note(each) for each in kept]

    def set_rests(self, rests: Mapping[str, Rest | None]) -> None:
        """Let keys rest, or wake them."""
        pipe = self._redis.pipeline(transaction=False)
        for name, rest in rests.items():
            if rest is None:
                pipe.hdel(_KEYS, name)
            else:
                pipe.hset(_KEYS, mapping={name: _encode(rest)})
        pipe.expire(_KEYS, _KEPT_FAILURES)
        pipe.execute()

    def publish_callers(self, share: Share, now: float, rules: CallerRules) -> None:
        """Count failures, and say who is refused: callers after a row of failures, for longer with
        each further one, and payers that have spent their quota, until the period ends."""
        period = int(now / rules.window)
        key, ends = f"health:failed:{period}", (period + 1) * rules.window
        payers, callers = list(share.failures.items()), list(share.rows.items())
        if share.served:  # first: the rows of a share have failed after its served calls
            self._redis.hdel(_ROWS, *share.served)
        pipe = self._redis.pipeline(transaction=False)
        for (payer, _), failures in payers:
            pipe.hincrby(key, payer, failures)
        for caller, failures in callers:
            pipe.hincrby(_ROWS, caller, failures)
        pipe.expire(key, int(2 * rules.window) + 1)
        pipe.expire(_ROWS, int(2 * LONGEST_PAUSE))
        totals = pipe.execute()
        refused = {}
        for ((payer, is_free), _), total in zip(payers, totals, strict=False):
            if total >= (rules.free_quota if is_free else rules.quota):
                refused[payer] = ends
        for (caller, _), total in zip(callers, totals[len(payers) :], strict=False):
            if (beyond := total - rules.in_a_row + 1) > 0:
                refused[caller] = now + min(rules.pause * beyond, LONGEST_PAUSE)
        pipe = self._redis.pipeline(transaction=False)
        if refused:
            pipe.zadd(_REFUSED, refused, gt=True)
        pipe.zremrangebyscore(_REFUSED, "-inf", now)
        pipe.execute()

    def signal_switches(self) -> None:
        """Have all processes read the switches again."""
        self._redis.incr(_SWITCHES)


def _minute_key(name: Name, minute: int) -> str:
    return f"health:calls:{'/'.join(name)}:{minute}"


def _name(field: bytes) -> Name:
    provider, _, model = field.decode().partition("/")
    return Name(provider, model)


def _circuit(value: bytes) -> Circuit:
    """Another release may have written something else."""
    return _decoded(_decode_circuit, value) or CLOSED


def _rest(value: bytes) -> Rest | None:
    return cast(Rest | None, _decoded(_decode_rest, value))


def _decoded(decode: Any, value: bytes) -> Any:
    try:
        return decode(value)
    except msgspec.DecodeError:
        return None
