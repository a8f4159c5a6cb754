"""The logs of `make run` do not grow for ever."""

import os
from contextlib import closing
from pathlib import Path

from devserver.logs import Log, earlier, put_aside


def test_a_full_log_is_put_aside_and_an_older_one_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    with closing(Log(path, max_bytes=100)) as log:
        for number in range(100):
            log.write(f"line {number:04}\n")
    assert path.stat().st_size <= 110
    assert earlier(path).stat().st_size <= 110
    assert path.read_text().endswith("line 0099\n")
    assert sorted(tmp_path.iterdir()) == [path, earlier(path)]


def test_a_log_goes_on_where_it_was_until_it_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    for _ in range(2):
        with closing(Log(path)) as log:
            log.write("again\n")
    assert path.read_text() == "again\nagain\n"
    put_aside(path)
    put_aside(path)
    assert not path.exists()
    assert earlier(path).read_text() == "again\nagain\n"


def test_nothing_is_kept_of_a_part_without_a_log() -> None:
    with closing(Log(Path(os.devnull))) as log:
        log.write("nothing\n")
