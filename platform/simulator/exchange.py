"""One call being answered: what to say, in whose manner, and to whom."""

from dataclasses import dataclass

from simulator import vendors
from simulator.answer import Answer
from simulator.connection import Connection
from simulator.journal import Call
from simulator.steering import Steering
from simulator.vendors import Json, Problem, Spent, Vendor

_UNTIL_READ = 0.05  # seconds; a reset discards what the peer has not read yet


class Refused(Exception):
    """The call is answered with an HTTP error instead."""

    def __init__(self, status: int, problem: Problem, retry_after: int | None = None) -> None:
        super().__init__(problem.message)
        self.status = status
        self.problem = problem
        self.headers = {} if retry_after is None else {"retry-after": str(retry_after)}


@dataclass(frozen=True, slots=True)
class Exchange:
    call: Call
    vendor: Vendor
    steering: Steering
    answer: Answer
    connection: Connection
    include_usage: bool
    created: int  # Unix seconds

    @property
    def headers(self) -> dict[str, str]:
        return {"x-request-id": f"req_{self.call.id}"}

    def usage(self) -> Json | None:
        """The vendor's usage object, true unless steered otherwise."""
        if self.steering.no_usage:
            return None
        spent = Spent(self.call.prompt_tokens, len(self.answer.words), len(self.answer.reasoning))
        return self.vendor.usage(Spent(0, 0, 0) if self.steering.zero_usage else spent)

    def refusal(self) -> Refused:
        """The steered failure before any answer."""
        status = self.steering.status or 500
        problem = vendors.problem(status, code=self.steering.code)
        return Refused(status, problem, self.steering.retry_after)

    def error(self) -> Json:
        """The steered failure's body, in the vendor's shape."""
        return self.vendor.error(self.refusal().problem)

    async def fall_silent(self) -> None:
        """Hang or cut the connection if that is the steered fault; else return at once."""
        if self.steering.fault == "hang":
            await self.connection.hang()
        if self.steering.fault == "drop":
            self.call.finish("drop")
            await self.connection.pause(_UNTIL_READ)
            await self.connection.reset()

    def envelope(self, kind: str, choices: list[Json]) -> Json:
        """What every body and chunk of OpenAI's wire has around its choices."""
        return {
            "id": f"chatcmpl-{self.call.id}",
            "object": kind,
            "created": self.created,
            "model": self.call.model,
            "service_tier": "default",
            "system_fingerprint": None,
            "choices": choices,
        }
