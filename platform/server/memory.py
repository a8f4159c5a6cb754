"""The memory of a process that runs for weeks: what is garbage, and what goes back to the system.

Memory is returned under the C library of Linux (glibc); elsewhere nothing is done.
"""

import asyncio
import ctypes
import gc

_M_MMAP_THRESHOLD = -3
_BUFFER_BYTES = 32 * 1024

_libc = ctypes.CDLL(None)


def return_freed_buffers() -> None:
    """Have the memory of a freed buffer returned at once. By default the threshold for that rises
    as larger buffers are freed (mallopt(3)), and the fragments of a thousand bodies would stay
    between smaller buffers."""
    if mallopt := getattr(_libc, "mallopt", None):
        mallopt(_M_MMAP_THRESHOLD, _BUFFER_BYTES)


def return_free_pages() -> None:
    """Return the pages between smaller buffers that are free (malloc_trim(3)): a tenth to ten
    milliseconds, without the interpreter's lock."""
    if trim := getattr(_libc, "malloc_trim", None):
        trim(0)


def spare_loaded_code() -> None:
    """Exclude the loaded code from garbage collection, and collect less often: a collection of all
    code takes longer than most requests, and would be due only when garbage is a quarter of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def collect_garbage(seconds: float) -> None:
    """Collect every so many seconds, because an idle process may not reach the thresholds above for
    hours. Without the loaded code a collection takes 2 to 5 ms. What it frees lies between what
    stays, and is returned by the page."""
    while True:
        await asyncio.sleep(seconds)
        gc.collect()
        await asyncio.to_thread(return_free_pages)
