"""The project's folders."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The three source roots, for the programs we start (see platform/README.md).
PYTHONPATH = os.pathsep.join([str(ROOT), str(ROOT / "platform"), str(ROOT / "tools")])
