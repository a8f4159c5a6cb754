"""Background work: jobs that outlive a request, and leases that say which processes live."""
