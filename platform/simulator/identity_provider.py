"""The errors of an identity provider."""

from simulator.connection import Connection
from simulator.problems import Problem
from simulator.provider import Json


class IdentityProvider:
    """Its own routes are open to all: it is for one machine."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        """None is asked for."""

    def error(self, problem: Problem, request_id: str) -> Json:
        """As OAuth 2 has it (RFC 6749, 5.2)."""
        return {
            "error": problem.code or "invalid_request",
            "error_description": problem.message or f"HTTP status {problem.status}",
        }

    def headers(self, request_id: str) -> dict[str, str]:
        return {}
