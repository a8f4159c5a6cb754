"""`manage.py check_files`: rows without files, and files without rows; exit 1 where files lack."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from media.files.services import consistency


class Command(BaseCommand):
    help = (
        "Compare stored files with their rows. Exits with 1 where a row has no file, or one of "
        "another length. A file that is being written just now is among these."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--delete-unknown",
            action="store_true",
            help="delete files without a row; refused where more would go than stay",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            findings = list(consistency.compare())
        except OSError as error:
            raise CommandError(f"The files cannot be read: {error}") from None
        for finding in findings:
            self.stdout.write(f"{finding.problem}: {finding.storage} {finding.path}")
        unknown = [finding for finding in findings if finding.problem == "unknown"]
        lacking = len(findings) - len(unknown)
        rows = consistency.stored_files()
        self.stdout.write(
            f"{rows} files with rows, {lacking} of them missing or incomplete; "
            f"{len(unknown)} files without rows."
        )
        if options["delete_unknown"]:
            # With another service's database, or an empty one, this would delete everything.
            if len(unknown) > rows - lacking:
                raise CommandError("More files would be deleted than stay: none was.")
            for finding in unknown:
                consistency.delete(finding)
            self.stdout.write(f"Deleted: {len(unknown)}.")
        if lacking:
            raise CommandError(f"{lacking} files are missing or incomplete.")
