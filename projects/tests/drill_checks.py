"""No file that people have written and that works is called faulty: all of this repository."""

from projects.tests.own_files import faults_of_our_own


def test_no_file_of_this_repository_has_a_fault() -> None:
    assert faults_of_our_own(every=1) == []
