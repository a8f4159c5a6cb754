"""Bodies of the type `multipart/form-data`."""

from email.parser import BytesParser
from email.policy import HTTP

from simulator.problems import Problem, Refused


def fields(content_type: str, body: bytes) -> dict[str, bytes]:
    """The fields of a form and their contents, files too. Raises `Refused` for another body."""
    if not content_type.startswith("multipart/form-data"):
        raise Refused(Problem(400, "Send the body as multipart/form-data.", "invalid_content_type"))
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1")
    form = BytesParser(policy=HTTP).parsebytes(head + body)
    found: dict[str, bytes] = {}
    for part in form.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            found[name] = content
    return found
