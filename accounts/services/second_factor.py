"""The second factor of operators: an authenticator app, and recovery codes for its loss."""

import time
from datetime import timedelta

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F, Func, QuerySet, Value

from accounts import totp
from accounts.errors import SecondFactorExists, WrongCode
from accounts.models import SecondFactor, User
from accounts.services import lockout
from accounts.services.users import revoke_sessions
from common.encryption import Unreadable

log = structlog.get_logger(__name__)

# Seconds after which a page's secret cannot be set up any more.
ENROLMENT_TIME = timedelta(minutes=30)


def enrol(*, operator: User, sealed: str, code: str) -> list[str]:
    """Set up the app with the sealed secret, proved by a code, and end all other sessions and
    visits. Returns the recovery codes, of which only hashes are kept.

    Raises WrongCode, and SecondFactorExists where there is one already.
    """
    try:
        secret = totp.unseal(sealed, operator.pk, within=ENROLMENT_TIME)
    except Unreadable:
        raise WrongCode("This page is too old. Reload it and scan its new code.") from None
    steps = list(totp.steps_of(secret, code, time.time()))
    if not steps:
        raise WrongCode
    codes = totp.new_recovery_codes()
    try:
        with transaction.atomic():
            SecondFactor.objects.create(
                operator=operator,
                secret=totp.seal(secret, operator.pk),
                last_step=steps[0],
                recovery_codes=_digests(codes),
            )
            revoke_sessions(user=operator)
    except IntegrityError:
        raise SecondFactorExists from None
    log.info("second_factor.set_up", user_id=str(operator.pk))
    return codes


def verify(*, operator: User, code: str) -> bool:
    """Is it a code of the operator's app, or a recovery code? Each counts once. False where no
    second factor is set up. Raises TooManyAttempts."""
    factor = SecondFactor.objects.filter(operator=operator).first()
    if factor is None:
        return False

    def is_right() -> bool:
        return _is_new_code(factor, code) or _is_recovery_code(factor, code)

    return lockout.verify(is_right, address=operator.email, is_code=True)


def renew_recovery_codes(*, operator: User, code: str) -> list[str]:
    """New recovery codes, which replace the old ones. Raises WrongCode, TooManyAttempts."""
    if not verify(operator=operator, code=code):
        raise WrongCode
    codes = totp.new_recovery_codes()
    SecondFactor.objects.filter(operator=operator).update(recovery_codes=_digests(codes))
    return codes


def remove(*, operator: User, code: str) -> None:
    """Remove the app, by a code of it, and end all other sessions and visits: another app can be
    set up then. Raises WrongCode, TooManyAttempts."""
    if not verify(operator=operator, code=code):
        raise WrongCode
    reset(operator=operator)


@transaction.atomic
def reset(*, operator: User) -> bool:
    """Remove the app of an operator who has lost it, and end all their sessions and visits. False
    where there is none."""
    forgotten, _ = SecondFactor.objects.filter(operator=operator).delete()
    if forgotten:
        revoke_sessions(user=operator)
        log.info("second_factor.reset", user_id=str(operator.pk))
    return bool(forgotten)


def _is_new_code(factor: SecondFactor, code: str) -> bool:
    """Is it a code of the app, and newer than the last one that was used? A used code is void,
    because somebody may have seen it."""
    try:
        secret = totp.unseal(factor.secret, factor.operator_id)
    except Unreadable:
        # Recovery codes are hashed under the same key, so only a reset helps.
        log.warning("second_factor.unreadable", user_id=str(factor.operator_id))
        return False
    return any(
        _this(factor).filter(last_step__lt=step).update(last_step=step)
        for step in totp.steps_of(secret, code, time.time())
    )


def _is_recovery_code(factor: SecondFactor, code: str) -> bool:
    return any(_use_up(factor, digest) for digest in totp.recovery_digests(code))


def _use_up(factor: SecondFactor, digest: str) -> bool:
    """Was it the stored form of an unused recovery code?"""
    rest = Func(F("recovery_codes"), Value(digest), function="array_remove")
    unused = _this(factor).filter(recovery_codes__contains=[digest])
    return bool(unused.update(recovery_codes=rest))


def _this(factor: SecondFactor) -> QuerySet[SecondFactor]:
    return SecondFactor.objects.filter(pk=factor.pk)


def _digests(codes: list[str]) -> list[str]:
    return [totp.recovery_digest(code) for code in codes]
