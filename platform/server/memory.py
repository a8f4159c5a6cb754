"""Returns freed memory to the system, under the C library of Linux (glibc); elsewhere nothing is
done."""

import ctypes

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
