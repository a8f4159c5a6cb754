"""What an account's kept files take is counted as they are stored, kept, taken down and deleted."""

from uuid import UUID

import pytest
from django.db import transaction
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.ids import uuid7
from media.files.models import StoredFile
from media.files.selectors.outputs import storage_used
from media.files.services.media import keep, let_expire

pytestmark = pytest.mark.django_db

ACCOUNTS = [uuid7() for _ in range(3)]
ACTS = ("store", "keep", "let_expire", "take_down", "delete", "delete_all", "give_away")


def summed(account_id: UUID) -> int:
    kept = StoredFile.objects.filter(account_id=account_id, is_kept=True, taken_down_at=None)
    return kept.aggregate(bytes=Sum("size"))["bytes"] or 0


def carry_out(act: str, chosen: list[UUID], size: int) -> None:
    rows = StoredFile.objects.filter(pk__in=chosen)
    match act:
        case "store":
            StoredFile.objects.bulk_create(
                StoredFile(
                    account_id=each, media_type="image/png", size=size, is_kept=size % 2 == 1
                )
                for each in ACCOUNTS
            )
        case "keep":
            kept = rows.filter(expires_at=None).values_list("pk", flat=True)
            keep(file_ids=list(kept), retention=None)
        case "let_expire":
            let_expire(file_ids=chosen)
        case "take_down":
            rows.update(taken_down_at="2026-11-25T00:00:00Z")
        case "delete":
            rows.delete()
        case "delete_all":
            StoredFile.objects.filter(account_id=ACCOUNTS[0]).delete()
        case "give_away":
            rows.update(account_id=ACCOUNTS[1])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.sampled_from(ACTS), st.integers(1, 10**9), st.randoms()), max_size=12))
def test_the_count_is_the_sum_whatever_happens_to_the_files(
    db: None, course: list[tuple[str, int, object]]
) -> None:
    with transaction.atomic():
        for act, size, random in course:
            stored = list(StoredFile.objects.order_by("pk").values_list("pk", flat=True))
            chosen = random.sample(stored, len(stored) // 2)  # type: ignore[attr-defined]
            carry_out(act, chosen, size)
            assert [storage_used(each) for each in ACCOUNTS] == [summed(each) for each in ACCOUNTS]
        transaction.set_rollback(True)
