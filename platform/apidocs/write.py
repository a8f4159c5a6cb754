"""`docs/openapi.json` and `docs/asyncapi.json`: the documents in the repository. `make openapi`
writes them."""

import json
from typing import Any

import django
from django.conf import settings

# The address of `make run`: the file is the same on every machine.
SERVER = "http://127.0.0.1:8000"


def openapi_text() -> str:
    """The content of `docs/openapi.json`."""
    from apidocs.openapi.document import document

    return _encoded(document() | {"servers": [{"url": SERVER}]})


def asyncapi_text() -> str:
    """The content of `docs/asyncapi.json`."""
    from apidocs.asyncapi.document import document

    return _encoded(document(SERVER))


def _encoded(described: dict[str, Any]) -> str:
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    django.setup()
    documents = settings.BASE_DIR / "docs"
    (documents / "openapi.json").write_text(openapi_text())
    (documents / "asyncapi.json").write_text(asyncapi_text())
