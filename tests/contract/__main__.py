"""`python -m tests.contract` writes docs/contract.md."""

from tests.contract.page import write

write()
