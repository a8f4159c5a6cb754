"""A build of a web app as SvelteKit writes one, with files that tests know."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

ROUTES = ("/", "/chat/[id]", "/shared/[token]", "/sign-in", "/models", "/help/[...page]")
# Both are inline, and the first one says which script comes next.
SCRIPTS = ('import("/_app/immutable/entry/start.4f2a.js");\n', 'window.theme = "dark";')
STYLE = ":root { color-scheme: dark; }"
INDEX = f"""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <link rel="modulepreload" href="/_app/immutable/entry/start.4f2a.js" />
    <style>{STYLE}</style>
    <script>{SCRIPTS[1]}</script>
    <script type="module" src="/_app/immutable/entry/start.4f2a.js"></script>
  </head>
  <body><p style="color: green">The app</p><script>{SCRIPTS[0]}</script></body>
</html>
"""
START = "/_app/immutable/entry/start.4f2a.js"
# Longer than what is sent at once.
START_SCRIPT = "window.started = true;\n" + "// the app\n" * 20_000
BROTLI = b"as brotli"
# A worker, whose policy is that of its file.
ASKING = "/_app/immutable/workers/asking.77d2.js"
ASKING_SCRIPT = 'fetch("/livez").then((answer) => postMessage(answer.status));'


def write_build(folder: Path, routes: Sequence[str] = ROUTES) -> Path:
    """Write it into the folder, and return that."""
    files = {
        "index.html": INDEX,
        "routes.json": json.dumps(routes),
        START.removeprefix("/"): START_SCRIPT,
        ASKING.removeprefix("/"): ASKING_SCRIPT,
        "_app/immutable/assets/app.91b0.css": "p { margin: 0 }",
        "_app/version.json": '{"version":"1"}',
        "icon.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
        "manifest.webmanifest": "{}",
        "two words.txt": "é",
        ".env": "SECRET=1",
        ".git/config": "[core]",
        "api/models": "shadow",
        "docs/index.js": "shadow",
    }
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    start = folder / START.removeprefix("/")
    start.with_name(f"{start.name}.gz").write_bytes(gzip.compress(START_SCRIPT.encode()))
    start.with_name(f"{start.name}.br").write_bytes(BROTLI)
    (folder / "index.html.gz").write_bytes(gzip.compress(INDEX.encode()))
    (folder / "elsewhere").symlink_to("/etc/passwd")
    return folder
