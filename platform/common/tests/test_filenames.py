"""Names of files that any file system and any browser takes."""

import pytest

from common.filenames import harmless


@pytest.mark.parametrize(
    ("name", "becomes"),
    [
        ("Report 2026.pdf", "Report 2026.pdf"),
        ("../../etc/passwd", "etc passwd"),
        ("C:\\autoexec.bat", "C autoexec.bat"),
        (".env", ".env"),
        (" .htaccess ", ".htaccess"),
        ("..env", "env"),
        (".", "nameless"),
        ("..", "nameless"),
        (". .", "nameless"),
        ("./.", "nameless"),
        ("a\r\nX: 1", "a X 1"),
        ("gpj.\u202eexe\x00", "gpj. exe"),
        ("cafe\u0301.txt", "café.txt"),
        ("Meer 🌊.md", "Meer 🌊.md"),
        ("می\u200cخواهم.txt", "می\u200cخواهم.txt"),  # noqa: RUF001
        ("👩\u200d👧.png", "👩\u200d👧.png"),
        ("\u200d.\u200denv \u200c", "env"),
        (".\u200d", "nameless"),
        ("\u200c \u200d", "nameless"),
        ("The end...", "The end"),
        ("?*|", "nameless"),
        ("\u2066\u2069", "nameless"),
        ("", "nameless"),
    ],
)
def test_what_is_not_seen_or_has_a_meaning_is_left_out(name: str, becomes: str) -> None:
    assert harmless(name, limit=80, otherwise="nameless") == becomes


def test_a_long_name_is_cut_and_does_not_end_in_a_space() -> None:
    assert harmless("ab " * 10, limit=6, otherwise="nameless") == "ab ab"
    assert harmless("ab\u200d" * 10, limit=6, otherwise="nameless") == "ab\u200dab"
