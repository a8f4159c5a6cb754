"""Markdown of others: what comes after it is no part of it."""

import pytest

from common.markdown import closed


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Thus:\n```python\nx = 1", "\n```"),
        ("```", "\n```"),
        ("~~~ text\n```\nx\n```", "\n~~~"),
        ("````md\n```\nx\n```\n", "\n````"),
        ("- Thus:\n  ```\n  x", "\n  ```"),
        ("```\nx\n``` y", "\n```"),
        ("1. Thus:\n\n   ```sh\n   ls", "\n   ```"),
        ("1. ```sh\n   ls\n   ```\n\n```\nx", "\n```"),
        ("> ```\n> x\n> ```\n\n```\nx", "\n```"),
        ("```\nx\n```\n\n~~~\ny", "\n~~~"),
    ],
)
def test_code_that_is_cut_off_is_ended(text: str, end: str) -> None:
    assert closed(text) == text + end


@pytest.mark.parametrize(
    "text",
    [
        "",
        "How deep?",
        "```\nx\n```",
        "```\nx\n`````  ",
        "~~~\n```\n~~~",
        "```x``` is code",
        "1. ```sh\n   ls\n   ```\n\nThat lists.",
        "- ```py\n  x\n  ```\n- ```py\n  x\n  ```\nDone.",
        "* ~~~\n  x\n  ~~~",
        "- ```\n  x",
        "> ```\n> x\n> ```",
        "1. Thus:\n\n    ```\n    x\n    ```",
        "``\nx",
    ],
)
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert closed(text) == text
