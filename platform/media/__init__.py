"""Files that are stored, and what is known of them: audio is measured, the rest is probed."""
