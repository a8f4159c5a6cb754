"""What `make run` seeds: accounts with 30 days of history, project runs, a gallery, a team,
content."""
