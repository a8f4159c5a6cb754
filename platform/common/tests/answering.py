"""A module that is asked questions: it answers some, breaks at one, and is slow at another."""

import os
import time

from common.confined_answers import serve


def answer(question: bytes) -> bytes:
    match question:
        case b"break":
            os.abort()
        case b"wait":
            time.sleep(60)
        case b"babble":
            return b"a" * 1_000_000
    return question[::-1]


if __name__ == "__main__":
    serve(answer)
