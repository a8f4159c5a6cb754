"""What the service promises, each row with the tests that hold it: the files beside this one."""
