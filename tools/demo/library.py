"""What happens in the demo's run on a repository: its files, what authors and a provider do there,
and what somebody else commits meanwhile."""

import json
from typing import Any, Final

REPOSITORY: Final = "demo/library"
GOAL: Final = (
    "Turn the site of our neighbourhood library into one page with a price list and a basket for "
    "used books."
)
_HOURS: Final = "Tuesday to Friday, 10 to 18."
_STYLE: Final = '<link rel="stylesheet" href="styles.css">'
_HEADING: Final = "<h1>Library</h1>"
_ABOUT: Final = "The site of our neighbourhood library. `serve.sh` shows it."
_STYLES: Final = f'{_STYLE}\n<link rel="stylesheet" href="style.css">'
_BOOKS: Final = "<p>Used books: choose some, and fetch them at the counter.</p>"
_README: Final = f"# Library\n\n{_ABOUT}\n\n## Opening hours\n\n{_HOURS}\n"
_PAGE: Final = f"""<!doctype html>
<html lang="en">
<title>Library</title>
{_STYLE}
{_HEADING}
<p>{_HOURS}</p>
</html>
"""
FILES: Final = {
    "README.md": _README,
    "serve.sh": {"content": "#!/bin/sh\nexec python3 -m http.server 8001\n", "mode": "100755"},
    "index.html": _PAGE,
    "styles.css": "body { font-family: serif; }\n",
    "events/june.md": "# June\n\n- 12 June: reading for children\n",
}


# --- What the simulator is told (docs/simulator.md) -----------------------------------------------


def _line(**options: Any) -> str:
    return f"@sim {json.dumps(options)}"


def _edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"name": "edit_file", "arguments": {"path": path, "old": old, "new": new}}


# Authors that search, and change passages of files, before they go on as usual.
AUTHORS: Final = (
    _line(
        step="work",
        subtask="Texts of the shop",
        calls=[
            {"name": "search", "arguments": {"text": "library"}},
            _edit("README.md", _ABOUT, f"{_ABOUT} Its texts are in [texts.md](texts.md)."),
        ],
    ),
    _line(
        step="work",
        subtask="The front page",
        calls=[
            _edit(
                "index.html",
                f"{_STYLE}\n{_HEADING}",
                f"{_STYLES}\n<h1>Used books</h1>\n{_BOOKS}",
            ),
            {
                "name": "write_file",
                "arguments": {"path": "style.css", "content": "h1 { margin: 2rem; }\n"},
            },
        ],
    ),
)
# A provider that does not serve its model any more, when its author has made the first calls.
AWAY: Final = _line(step="work", subtask="The basket", model="grok-4.7", status=503)


# --- What is written to the repository ------------------------------------------------------------

# The commit of somebody else, which changes lines beside those of the run, and one of the same.
MESSAGE: Final = "Open on Saturdays, at the mill"
_NEW_HOURS: Final = "Tuesday to Saturday, 10 to 18."
_NEW_HEADING: Final = "<h1>Library at the mill</h1>"
OTHERS: Final = {
    "README.md": _README.replace(_HOURS, _NEW_HOURS),
    "index.html": _PAGE.replace(_HEADING, _NEW_HEADING).replace(_HOURS, _NEW_HOURS),
}
# The user orders the page first, whose conflict they resolve, and then the texts with it. The
# price list and the basket are left for whoever looks at the demo.
PAGE: Final = ("index.html", "style.css")
TEXTS: Final = ("README.md", "index.html", "texts.md")
RESOLVED: Final = (
    OTHERS["index.html"].replace(_NEW_HEADING, f"{_NEW_HEADING}\n{_BOOKS}").replace(_STYLE, _STYLES)
)
