"""The web process on its sockets, and what stands in front of its applications: limits, queues,
bodies."""
