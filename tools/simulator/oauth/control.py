"""`/_oauth`: lets tokens expire, revokes grants as the person does, and makes faults."""

import msgspec

from simulator.oauth.exchange import Answer, State, json_answer, read
from simulator.oauth.faults import Fault
from simulator.oauth.tokens import HostName
from simulator.provider import Problem, Refused


class _Expiry(msgspec.Struct, forbid_unknown_fields=True):
    token: str


class _Revocation(msgspec.Struct, forbid_unknown_fields=True):
    host: HostName
    login: str


def expire(state: State, body: bytes) -> Answer:
    """`{token}`: an access token or a code expires now. Raises `Refused`."""
    text = read(body, _Expiry).token
    if not (state.tokens.expire(text) or state.codes.expire(text)):
        raise Refused(Problem(404, "There is no such token."))
    return json_answer({})


def revoke(state: State, body: bytes) -> Answer:
    """`{host, login}`: the person revokes the grant. Returns `{revoked}`, the number of tokens."""
    wanted = read(body, _Revocation)
    return json_answer({"revoked": state.tokens.revoke_login(wanted.host, wanted.login)})


def add_faults(state: State, body: bytes) -> Answer:
    """A list of faults (faults.py)."""
    state.faults.add(read(body, list[Fault]))
    return json_answer({}, 201)


def clear_faults(state: State, body: bytes) -> Answer:
    """No faults from now on."""
    state.faults.clear()
    return json_answer({})


def requests(state: State, body: bytes) -> Answer:
    """What the servers and the services behind them were asked, oldest first."""
    return json_answer(state.faults.shown())


def forget_requests(state: State, body: bytes) -> Answer:
    """Empty the log."""
    state.faults.forget()
    return json_answer([])
