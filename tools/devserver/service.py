"""The description of one program of the local default."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Service:
    """A program, its readiness check, and how to end it.

    `launcher` is a command that execs `command` in its own place; `user` and `group` are numeric
    ids; `env` is added to our own environment. `grace` is the number of seconds between the stop
    signal and SIGKILL, which comes at once in a hurry, unless the program `must_finish`. `finishes`
    names its remaining work, for the waiting user. A program that `runs_once` is ready when it has
    ended well. `without` is a sentence for users about what they miss without it; a program that
    has none is one that nothing works without; one that `runs_once` says in its last line why it
    has failed. `shows` says which of its lines are shown; its log has all of them.
    """

    name: str
    command: tuple[str, ...]
    is_ready: Callable[[], bool] = lambda: True
    env: Mapping[str, str] = field(default_factory=dict)
    launcher: tuple[str, ...] = ()
    user: int | None = None
    group: int | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 10.0
    finishes: str = ""
    must_finish: bool = False
    runs_once: bool = False
    without: str = ""
    shows: Literal["all", "notable", "nothing"] = "notable"
