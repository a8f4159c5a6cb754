"""Counts tokens by OpenAI's `o200k_base`, which LiteLLM's package ships. It runs in the environment
that has LiteLLM, reads a JSON list of texts, and writes a JSON list of counts."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

_FILES = "litellm_core_utils/tokenizers"


def main() -> None:
    package = find_spec("litellm")
    if package is None or package.origin is None:
        sys.exit("LiteLLM is not installed. `make bench` does it.")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(package.origin).parent / _FILES)
    import tiktoken  # type: ignore[import-not-found]  # reads the environment

    encoding = tiktoken.get_encoding("o200k_base")
    texts = json.load(sys.stdin)
    json.dump([len(encoding.encode(text, disallowed_special=())) for text in texts], sys.stdout)


if __name__ == "__main__":
    main()
