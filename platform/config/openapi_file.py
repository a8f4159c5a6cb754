"""`docs/openapi.json`: the document in the repository. `make openapi` writes it."""

import json

import django
from django.conf import settings

# The address of `make run`: the file is the same on every machine.
SERVER = "http://127.0.0.1:8000"


def text() -> str:
    """The file's content."""
    from config.openapi import document

    described = document() | {"servers": [{"url": SERVER}]}
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    django.setup()
    (settings.BASE_DIR / "docs" / "openapi.json").write_text(text())
