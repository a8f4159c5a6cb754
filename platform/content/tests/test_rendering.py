"""Markdown of operators as HTML: what it becomes, and that nothing of it can run."""

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.rendering import ATTRIBUTES, REL, SCHEMES, TAGS, render

_PIECES = [
    *("<script>", "</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<svg>"),
    *("<style>", "</style>", "<math>", "<mtext>", "<table>", "<mglyph>", "<noscript>", "</p>"),
    *("<iframe src=//x>", "<a href=javascript:alert(1)>x</a>", "[x](javascript:alert(1))", "<!--"),
    *("[x](JaVaScRiPt:alert(1))", "[x](java\tscript:alert(1))", "[x](&#106;avascript:alert(1))"),
    *(
        "![x](data:text/html,x)",
        "[x]: vbscript:x",
        "[x]",
        "<a href='//x' onclick=x>",
        '"',
        "'",
        ">",
    ),
    *("<details open ontoggle=alert(1)>", "<form action=/x>", "<base href=//x>", "<meta>", "-->"),
    *(
        "**",
        "`",
        "```\n",
        "\n\n",
        "> ",
        "- ",
        "| a | b |\n|---|---|\n",
        "<p style=x>",
        "&lt;",
        "\0",
    ),
]
_TEXTS = st.lists(st.sampled_from(_PIECES) | st.text(max_size=20), max_size=12).map("".join)


class Seen(HTMLParser):
    """The elements of a document, with their attributes, and its comments."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.comments: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def assert_harmless(html: str) -> None:
    seen = Seen(html)
    assert seen.comments == []
    for tag, attributes in seen.elements:
        assert tag in TAGS
        assert attributes.keys() <= ATTRIBUTES.get(tag, set()) | {"rel"}
        assert attributes.get("rel") == (REL if tag == "a" else None)
        for name in ("href", "src"):
            if url := attributes.get(name):
                # Browsers ignore these characters in a scheme.
                scheme = urlsplit("".join(url.split()).replace("\0", "")).scheme
                assert scheme in {*SCHEMES, ""}


@given(_TEXTS)
def test_nothing_of_any_text_can_run(text: str) -> None:
    assert_harmless(render(text))


@given(_TEXTS)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    """Cleaned again, as HTML, it is the same: no second reading makes something else of it."""
    html = render(text)
    assert_harmless(render(html))


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("", ""),
        ("# A *b*", "<h1>A <em>b</em></h1>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("3. a", '<ol start="3">\n<li>a</li>\n</ol>'),
        ("~~a~~", "<p><s>a</s></p>"),
        ("1 < 2 & 3", "<p>1 &lt; 2 &amp; 3</p>"),
        ("`<script>`", "<p><code>&lt;script&gt;</code></p>"),
        ("a<br>b", "<p>a<br>b</p>"),
        ("[a](/b)", f'<p><a href="/b" rel="{REL}">a</a></p>'),
        ("[a](https://b.example)", f'<p><a href="https://b.example" rel="{REL}">a</a></p>'),
        ("[a](mailto:a@b.example)", f'<p><a href="mailto:a@b.example" rel="{REL}">a</a></p>'),
        (
            "<https://b.example>",
            f'<p><a href="https://b.example" rel="{REL}">https://b.example</a></p>',
        ),
        ("![a](https://b.example/c.png)", '<p><img src="https://b.example/c.png" alt="a"></p>'),
    ],
)
def test_markdown_becomes_html(markdown: str, html: str) -> None:
    assert render(markdown) == html


def test_tables_are_tables() -> None:
    assert "<td>1</td>" in render("| a |\n|---|\n| 1 |")


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("a<script>alert(1)</script>b", "<p>ab</p>"),
        ("<script>\nalert(1)\n</script>", ""),
        ("<style>p {}</style>", ""),
        ("[a](javascript:alert(1))", f'<p><a rel="{REL}">a</a></p>'),
        ("[a](JAVASCRIPT:alert(1))", f'<p><a rel="{REL}">a</a></p>'),
        ("[a](&#x6A;avascript:alert(1))", f'<p><a rel="{REL}">a</a></p>'),
        ("[a](vbscript:x)", f'<p><a rel="{REL}">a</a></p>'),
        ("[a](data:text/html;base64,AA==)", f'<p><a rel="{REL}">a</a></p>'),
        ("![a](javascript:alert(1))", '<p><img alt="a"></p>'),
        ("![a](data:image/svg+xml,x)", '<p><img alt="a"></p>'),
        ('<p onclick="alert(1)">a</p>', "<p>a</p>"),
        (
            '<a href="/b" onclick="b()" target="_top">a</a>',
            f'<p><a href="/b" rel="{REL}">a</a></p>',
        ),
        ('<a href="/b" rel="opener">a</a>', f'<p><a href="/b" rel="{REL}">a</a></p>'),
        ('<p style="position: fixed">a</p>', "<p>a</p>"),
        ('<iframe src="https://b.example"></iframe>a', "a"),
        ('<form action="/b"><input name="a"></form>', ""),
        ("<!-- a -->b", "b"),
        # No scheme has a percent sign: the address is relative.
        (
            "[a](java&Tab;script&colon;alert(1))",
            f'<p><a href="java%09script:alert(1)" rel="{REL}">a</a></p>',
        ),
        ('<a href="&#1;javascript:alert(1)">a</a>', f'<p><a rel="{REL}">a</a></p>'),
        ('<svg><a xlink:href="javascript:alert(1)">a</a></svg>', "<p></p>"),
        (
            "<svg><style><img src=x onerror=alert(1)></style></svg>",
            '<p><img src="x"></p>',
        ),
        ("<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>", "<p></p>"),
        (
            "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
            "<p>&lt;p title='<img src=\"x\">'&gt;</p>",
        ),
        ('<img src="/a.png" srcset="javascript:alert(1)">', '<img src="/a.png">'),
        ('<a href="/b" ping="https://c.example">a</a>', f'<p><a href="/b" rel="{REL}">a</a></p>'),
        ('<p id="a" class="b" data-c="d">a</p>', "<p>a</p>"),
        ("<template><img src=x onerror=alert(1)></template>", "<p></p>"),
    ],
)
def test_what_could_run_is_taken_out(markdown: str, html: str) -> None:
    assert render(markdown) == html


def test_a_long_text_is_rendered_in_bounded_time() -> None:
    for piece in ("> ", "[", "*", "<a href=x>", "`", "![", "- "):
        assert_harmless(render(piece * (20_000 // len(piece))))
