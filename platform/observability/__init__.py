"""What the service says of itself: metrics, traces and reports of errors."""
