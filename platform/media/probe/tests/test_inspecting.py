"""Files are inspected in processes that end, whatever happens."""

import asyncio
import signal
from contextlib import suppress
from tempfile import TemporaryFile

import psutil
import pytest

from common.confinement import BAD_FILE
from common.errors import ServiceUnavailable
from media.probe.errors import UnusableMedia
from media.probe.inspecting import check_end, inspect
from media.probe.tests.samples import film, inspected, picture


def inspectors(module: str = "media.probe.inspector") -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if runs(child, module)]


def runs(process: psutil.Process, module: str) -> bool:
    with suppress(psutil.NoSuchProcess):  # it may end while it is looked at
        return module in process.cmdline()
    return False


async def test_what_is_not_inspected_in_time_may_be_good_all_the_same() -> None:
    with TemporaryFile() as file:
        file.write(film())
        file.flush()
        with pytest.raises(ServiceUnavailable):
            await inspect(file, "video", timeout=0.01)


async def test_whoever_does_not_want_to_know_any_more_leaves_no_process_behind() -> None:
    with TemporaryFile() as file:
        file.write(film())
        file.flush()
        task = asyncio.create_task(inspect(file, "video"))
        while not inspectors():  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    for _ in range(500):
        if not inspectors():
            return
        await asyncio.sleep(0.01)
    pytest.fail("An inspector is left.")


async def test_two_files_at_a_time_are_inspected() -> None:
    data = picture("PNG")
    tasks = [asyncio.create_task(inspected(data, "image")) for _ in range(5)]
    most = 0
    while not all(task.done() for task in tasks):
        most = max(most, len(inspectors()))
        await asyncio.sleep(0.005)
    assert [task.result().facts.width for task in tasks] == [800] * 5
    assert 1 <= most <= 2


@pytest.mark.parametrize(
    ("status", "is_told"),
    [(-signal.SIGXCPU, False), (-signal.SIGSEGV, True), (-signal.SIGABRT, True)],
)
def test_a_file_that_breaks_the_inspector_is_refused_and_we_are_told(
    status: int, is_told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(UnusableMedia, match="cannot be decoded"):
        check_end(status, b"", is_late=False)
    assert ("inspection.inspector_broke" in caplog.text) == is_told


def test_the_reason_is_what_the_inspector_says() -> None:
    with pytest.raises(UnusableMedia, match=r"^It is no MP4 file\.$"):
        check_end(BAD_FILE, b"It is no MP4 file.\n", is_late=False)


@pytest.mark.parametrize("status", [1, 2, 127])
def test_an_inspector_that_is_broken_itself_is_none_of_the_file_s_doing(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ServiceUnavailable):
        check_end(status, b"", is_late=False)
    assert "inspection.inspector_broke" in caplog.text


def test_an_inspector_that_the_system_kills_is_none_of_the_file_s_doing() -> None:
    with pytest.raises(ServiceUnavailable):
        check_end(-signal.SIGKILL, b"", is_late=False)
