"""`docs/openapi.json`: the document as it is kept beside the code. `make openapi` writes it."""

import json

import django
from django.conf import settings

# Where `make run` serves: what is kept says nothing of the machine it was written on.
SERVER = "http://127.0.0.1:8000"


def text() -> str:
    """What the file should hold."""
    from config.openapi import document

    described = document() | {"servers": [{"url": SERVER}]}
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    django.setup()
    (settings.BASE_DIR / "docs" / "openapi.json").write_text(text())
