"""What the screens are tried with, as `make run` has it: a demo user, an operator, and content."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from content.models import Entry
from content.tests.writing import write
from tests.operators import new_operator
from tests.personas import PASSWORD, new_user

TABLE = "| What | Where |\n|---|---|\n| Web app | here |"


@contextmanager
def furnished(var: Path) -> Iterator[None]:
    """The credentials are in the file of the demo, in the folder `var`."""
    demo, operator = new_user("demo", plan="max"), new_operator().user
    credentials = {
        "email": demo.email,
        "password": PASSWORD,
        "admin_email": operator.email,
        "admin_password": PASSWORD,
    }
    var.mkdir()
    (var / "demo.json").write_text(json.dumps(credentials))
    entries = [
        write("about", title="About us", body=TABLE),
        write("about", title="Über uns", locale="de"),
        write("privacy"),
        write("studios", kind="news", title="Studios are open"),
    ]
    try:
        yield
    finally:
        Entry.objects.filter(pk__in=[entry.pk for entry in entries]).delete()
