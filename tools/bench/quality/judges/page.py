"""The page is valid HTML and has the texts."""

from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser

from bench.quality.judges.checks import FILES, lacking, read

VOID = {"meta", "link", "br", "hr", "img", "input"}
IN_HEAD = {"title", "meta", "link", "style"}
TEXTS = (
    *("Zum Leuchtfeuer", "Am Kai 7, 26721 Emden", "Tuesday to Saturday, 8 to 17"),
    *("Come in for fish soup, stay for the lights.",),
)


class Page(HTMLParser):
    """Reads a page strictly: every tag is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.language = ""
        self.doctype = ""
        self.text: list[str] = []

    def handle_decl(self, decl: str) -> None:
        self.doctype = decl.lower()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.seen[tag] += 1
        self.ids.update([given["id"]] if "id" in given else [])
        self.language = given.get("lang", "") if tag == "html" else self.language
        if tag == "link":
            self.links.append(given.get("href", ""))
        if tag == "img" and "alt" not in given:
            self.wrong.append("a picture has no alt")
        if tag in IN_HEAD and "head" not in self.open:
            self.wrong.append(f"{tag} stands outside of the head")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"{tag} is closed where it is not open")

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if data.strip() and not self.open:
            self.wrong.append(f"{data.strip()[:20]!r} stands outside of the page")


def faults() -> Iterator[str]:
    source = read(FILES / "index.html")
    page = Page()
    page.feed(source)
    page.close()
    if page.doctype != "doctype html" or not source.lower().startswith("<!doctype"):
        yield "it does not begin with its doctype"
    yield from page.wrong
    yield from (f"{tag} is not closed" for tag in page.open)
    yield from (
        f"{tag} is there {page.seen[tag]} times"
        for tag in ("html", "head", "body", "title", "h1")
        if page.seen[tag] != 1
    )
    yield from (f"the id {name} is there twice" for name, count in page.ids.items() if count > 1)
    if not page.language:
        yield "it does not say its language"
    if "style.css" not in page.links or "{" not in read(FILES / "style.css"):
        yield "there is no style.css that it uses"
    yield from lacking("".join(page.text), *TEXTS)
