"""Which of our keys rest: those that a provider has refused. Kept in this process;
`ai.provider_health` tells the other processes.

A key is named by its provider and a fingerprint, from which the key cannot be found.
"""

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Literal

from msgspec import Struct

KeyFault = Literal["key", "quota"]

# Seconds for which a refused key is not used where there is another one.
REST_SECONDS: Mapping[KeyFault, float] = {"key": 600.0, "quota": 300.0}


class KeyId(Struct, frozen=True):
    """A key of ours. `index` is its place in the setting, from 0 on."""

    provider: str
    fingerprint: str
    index: int

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.fingerprint}"


class Rest(Struct, frozen=True):
    """A key rests until that Unix time, because of that fault."""

    until: float
    fault: KeyFault


class KeyRests:
    """The resting keys by name. Safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._rests: dict[str, Rest] = {}
        self._changes: dict[str, Rest | None] = {}

    def rest(self, key: KeyId, fault: KeyFault) -> None:
        """Let a refused key rest from now on."""
        self._set(key.name, Rest(time.time() + REST_SECONDS[fault], fault))

    def wake(self, key: KeyId) -> None:
        """A key was accepted."""
        if key.name in self._rests:
            self._set(key.name, None)

    def rest_of(self, key: KeyId) -> Rest | None:
        """The rest of that key, None where it does not rest."""
        rest = self._rests.get(key.name)
        return rest if rest and rest.until > time.time() else None

    def in_order(self, keys: Sequence[KeyId]) -> list[KeyId]:
        """The keys to be used, one after the other: those that do not rest, or else the one that
        rests no longer soonest."""
        awake = [key for key in keys if self.rest_of(key) is None]
        return awake or [min(keys, key=self._until)]

    # --- Sharing ----------------------------------------------------------------------------------

    def take_changes(self) -> dict[str, Rest | None]:
        """The changes that no other process knows of, None for a key that was accepted."""
        with self._lock:
            changes, self._changes = self._changes, {}
        return changes

    def put_back(self, changes: Mapping[str, Rest | None]) -> None:
        """Changes that could not be told, for another attempt."""
        with self._lock:
            self._changes = {**changes, **self._changes}

    def replace(self, rests: Iterable[tuple[str, Rest]]) -> None:
        """What all processes know together; changes of this one that are not told yet stay."""
        with self._lock:
            known = dict(rests)
            for name, rest in self._changes.items():
                if rest is None:
                    known.pop(name, None)
                else:
                    known[name] = rest
            self._rests = known

    def _until(self, key: KeyId) -> float:
        rest = self._rests.get(key.name)
        return rest.until if rest else 0.0

    def _set(self, name: str, rest: Rest | None) -> None:
        with self._lock:
            self._changes[name] = rest
            if rest is None:
                self._rests.pop(name, None)
            else:
                self._rests[name] = rest


def keys_of(provider: str, api_keys: Iterable[str]) -> list[KeyId]:
    """The names of a provider's keys, in their order."""
    return [
        KeyId(provider, hashlib.sha256(key.encode()).hexdigest()[:8], index)
        for index, key in enumerate(api_keys)
    ]


key_rests = KeyRests()
