"""Conversions of Docs Editors files. Their stored content is a text."""

from collections.abc import Callable

from simulator.drive.files import GoogleType

Convert = Callable[[bytes], bytes]

_LINES = 50  # on the one page
_PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
    b" /Resources << /Font << /F1 5 0 R >> >> >>"
)


def _as_it_is(content: bytes) -> bytes:
    return content


def _pdf(content: bytes) -> bytes:
    """One page with the first lines of the text (ISO 32000-1, 7.5: the structure of a file)."""
    stream = _shown(content.decode(errors="replace").splitlines()[:_LINES])
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        _PAGE,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    written, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    size = len(objects) + 1
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return written + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF\n" % (size, table, size, len(written))
    )


def _shown(lines: list[str]) -> bytes:
    """The operators that show lines of text."""
    shown = b"BT /F1 12 Tf 14 TL 50 790 Td\n"
    for line in lines:
        text = line.encode("cp1252", errors="replace")
        for special in (b"\\", b"(", b")"):
            text = text.replace(special, b"\\" + special)
        shown += b"(%s) Tj T*\n" % text
    return shown + b"ET"


EXPORTS: dict[tuple[GoogleType, str], Convert] = {
    ("document", "text/plain"): _as_it_is,
    ("document", "text/markdown"): _as_it_is,
    ("document", "application/pdf"): _pdf,
    ("spreadsheet", "text/csv"): _as_it_is,
    ("presentation", "text/plain"): _as_it_is,
}
