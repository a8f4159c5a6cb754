"""A program that exports an account after another one, and prints how many bytes of memory the
second export took beyond the first. Its arguments: the ids of the accounts."""

import resource
import sys
from tempfile import TemporaryFile

import django


def most_memory() -> int:
    """The most bytes that this process has taken up to now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(small: str, large: str) -> int:
    from accounts.models import User
    from privacy.archive import Archive

    def export(user_id: str) -> None:
        with TemporaryFile() as file:
            Archive(User.objects.get(pk=user_id), file, lambda: True).write()

    export(small)
    before = most_memory()
    export(large)
    return most_memory() - before


if __name__ == "__main__":
    django.setup()
    print(main(*sys.argv[1:]))  # noqa: T201
