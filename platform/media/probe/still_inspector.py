"""Decodes the pictures on standard input, one after the other, in a confined process: see
`common.confinement`.

Each comes as its length, four bytes with the highest first, and its bytes. The answer is a line:
empty for a picture that can be decoded, otherwise the reason, a sentence.
"""

import sys

from common.confinement import confine
from media.probe import stills
from media.probe.errors import UnusableMedia
from media.probe.types import LENGTH_BYTES

# For all of them. A JPEG of 5 MB can have so many scans that it takes minutes.
CPU_SECONDS = 5
MEMORY = 768 * 1024 * 1024  # bytes of address space; the largest picture takes two thirds


def main() -> None:
    stills.load()
    confine(cpu_seconds=CPU_SECONDS, memory=MEMORY)
    while head := sys.stdin.buffer.read(LENGTH_BYTES):
        print(problem_of(sys.stdin.buffer.read(int.from_bytes(head))), flush=True)  # noqa: T201


def problem_of(data: bytes) -> str:
    """Why a picture cannot be used; empty where it can."""
    try:
        stills.check_still(data)
    except UnusableMedia as error:
        return error.reason
    # The outermost handler: whatever a parser raises now, the picture is to blame.
    except Exception:
        return "It cannot be decoded."
    return ""


if __name__ == "__main__":
    main()
