"""Inspects the file on standard input, in a confined process: see `common.confinement`.

The only argument is the kind: image, video or model. It writes a line of JSON, `Facts`, and the
bytes of the thumbnail after it. Where the file is not of that kind, the exit status is `BAD_FILE`
and the output is the reason, a sentence.
"""

import importlib
import sys

import msgspec

from common.confinement import BAD_FILE, confine
from media.probe.errors import UnusableMedia

CPU_SECONDS = 20
MEMORY = 1024 * 1024 * 1024  # bytes of address space; a picture of the largest size takes half

_MODULES = {"image": "pictures", "video": "films", "model": "glb"}


def main() -> None:
    # A picture is inspected without the decoders of films.
    module = importlib.import_module(f"media.probe.{_MODULES[sys.argv[1]]}")
    module.load()
    confine(cpu_seconds=CPU_SECONDS, memory=MEMORY)
    try:
        found = module.inspect(sys.stdin.buffer)
    except UnusableMedia as error:
        refuse(error.reason)
    # The outermost handler: whatever a parser raises now, the file is to blame.
    except Exception:
        refuse("It cannot be decoded.")
    sys.stdout.buffer.write(msgspec.json.encode(found.facts) + b"\n" + (found.thumbnail or b""))


def refuse(reason: str) -> None:
    """End with the reason why the file cannot be used."""
    print(reason)  # noqa: T201
    sys.exit(BAD_FILE)


if __name__ == "__main__":
    main()
