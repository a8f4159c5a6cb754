"""The endpoints of `/api` that change something."""

from apidocs.openapi.document import document

MUTATING = ("post", "put", "patch", "delete")

Endpoint = tuple[str, str]


def acts_under(*prefixes: str) -> set[Endpoint]:
    """The method and the path of each, as the published document names them."""
    return {
        (method.upper(), path)
        for path, operations in document()["paths"].items()
        if path.startswith(prefixes)
        for method in operations
        if method in MUTATING
    }
