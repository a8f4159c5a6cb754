"""AsyncAPI's own parser reads `/asyncapi.json`: the document is valid, and its examples are."""

import json
import subprocess
from typing import Any

from events.declarations import declared_types
from tests.clients.environments import PROGRAMS, node_client
from tests.environment import inherited
from tests.service import Web

pytestmark = node_client("asyncapi_parser", "AsyncAPI's parser")


def test_the_document_has_no_faults(web: Web) -> None:
    done = subprocess.run(
        ["node", PROGRAMS / "asyncapi_parser" / "validate.mjs", f"{web.url}/asyncapi.json"],
        env=inherited(),
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads(done.stdout)
    # It recommends version 3.1.0.
    faults = [each for each in read["diagnostics"] if each["code"] != "asyncapi-latest-version"]
    assert faults == []
    assert read["version"] == "3.0.0"
    assert "/api/ws" in read["channels"]
    types = {each.name for kind in ("council", "user") for each in declared_types()[kind]}
    assert types <= {*read["messages"]}
