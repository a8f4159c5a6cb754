"""What stands in front of the applications of a web process: limits, queues, bodies."""
