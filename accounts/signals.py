"""What the accounts app tells others in the same process."""

from django.dispatch import Signal

# Sessions were ended, or their user was suspended, and that is committed: whoever serves something
# for longer than a request asks again. Sent with `session_ids`, a list of UUIDs.
sessions_ended = Signal()
