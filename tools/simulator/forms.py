"""Forms with files (RFC 7578)."""

from email.parser import BytesParser
from email.policy import HTTP

from simulator.exchange import Arrival
from simulator.provider import Problem, Refused


def read_multipart(arrival: Arrival) -> dict[str, list[bytes]]:
    """The contents of each field, files included. Raises `Refused` for any other body."""
    content_type = arrival.connection.headers.get("content-type", "")
    if not content_type.startswith("multipart/form-data"):
        raise Refused(Problem(400, "Send the body as multipart/form-data.", "invalid_content_type"))
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1")
    form = BytesParser(policy=HTTP).parsebytes(head + arrival.body)
    found: dict[str, list[bytes]] = {}
    for part in form.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            found.setdefault(name, []).append(content)
    return found
