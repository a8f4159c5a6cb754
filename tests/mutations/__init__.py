"""Mutations: small changes that break the service, each with the tests that have to fail of it.

They show that the suite keeps its power when tests are merged, moved or made faster. A file of this
folder has those of one area, such as `money.toml`:

    [[mutation]]
    breaks = "A settled charge can be settled again."
    file = "billing/sql/30_resolve.sql"
    old = '''text that is in the file once'''
    new = '''what stands there instead'''
    killed_by = ["billing/tests/test_hold_and_settle.py::test_a_charge_is_settled_once"]

`make mutations` applies each alone, in a copy of the tree, and runs its tests.
"""
