"""`/api/billing`, `/api/models`, and the usage and entitlements under `/api/users/me`."""

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from billing.errors import (
    IdempotencyMismatch,
    PlanByContract,
    SamePlan,
    SelfServiceOff,
    UsageExceedsPlan,
)
from billing.idempotency import read_request_key, replayed
from billing.selectors.billing_snapshot import get_billing_snapshot, get_funds
from billing.selectors.entitlements import get_entitlements
from billing.selectors.history import list_charges, list_entries
from billing.selectors.picker import list_models
from billing.selectors.plans import list_plans
from billing.selectors.subscriptions import get_subscription
from billing.serializers.entitlements import EntitlementsSerializer
from billing.serializers.money import (
    BalanceSerializer,
    PlanSerializer,
    SubscriptionSerializer,
    TopupSerializer,
    TransactionFilterSerializer,
    TransactionSerializer,
    UpgradeSerializer,
    WalletSerializer,
)
from billing.serializers.picker import PickerModelSerializer
from billing.serializers.usage import UsageFilterSerializer, UsageRecordSerializer
from billing.services import balance
from common.idempotency import IDEMPOTENCY_KEY
from common.ids import uuid7
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet


class BillingViewSet(ViewSet):
    """Plans and money. No payment is taken here: where accounts cannot serve themselves, an
    operator credits them."""

    @extend_schema(operation_id="listPlans", responses=PlanSerializer(many=True))
    def plans(self, request: AuthenticatedRequest) -> Response:
        """The plans on offer."""
        return Response([PlanSerializer(plan).data for plan in list_plans()])

    @extend_schema(operation_id="getSubscription", responses=SubscriptionSerializer)
    def subscription(self, request: AuthenticatedRequest) -> Response:
        """The account's plan."""
        return Response(SubscriptionSerializer(get_subscription(request.user)).data)

    @extend_schema(operation_id="getBalance", responses=BalanceSerializer)
    def balance(self, request: AuthenticatedRequest) -> Response:
        """The prepaid balance, and how much of it running calls hold."""
        return Response(BalanceSerializer(get_funds(request.user)).data)

    @extend_schema(operation_id="getWallet", responses=WalletSerializer)
    def wallet(self, request: AuthenticatedRequest) -> Response:
        """The balance, and the rest of this month's allowances."""
        return Response(WalletSerializer(get_billing_snapshot(request.user)).data)

    @extend_schema(
        operation_id="listTransactions",
        parameters=[TransactionFilterSerializer, *PAGE_PARAMETERS],
        responses=TransactionSerializer(many=True),
    )
    def transactions(self, request: AuthenticatedRequest) -> Response:
        """The movements of the balance, newest first."""
        filters = read(TransactionFilterSerializer, request.query_params.dict())
        return NewestFirst("seq").answer(
            request, list_entries(request.user, **filters), TransactionSerializer
        )

    @extend_schema(
        operation_id="topUp",
        parameters=[IDEMPOTENCY_KEY],
        request=TopupSerializer,
        responses={
            201: TransactionSerializer,
            **error_responses(SelfServiceOff, IdempotencyMismatch),
        },
    )
    def topup(self, request: AuthenticatedRequest) -> Response:
        """Add to the balance. No payment is taken."""
        _check_self_service()
        body = read(TopupSerializer, request.data)
        operation_id = uuid7()
        entry = balance.topup(
            operation_id=operation_id,
            account=request.user,
            amount=body["amount_usd"],
            request_key=read_request_key(request, body),
        )
        return Response(
            TransactionSerializer(entry).data,
            status=status.HTTP_201_CREATED,
            headers=replayed(entry.pk != operation_id),
        )

    @extend_schema(
        operation_id="changePlan",
        parameters=[IDEMPOTENCY_KEY],
        request=UpgradeSerializer,
        responses={
            200: SubscriptionSerializer,
            **error_responses(
                SelfServiceOff, PlanByContract, SamePlan, UsageExceedsPlan, IdempotencyMismatch
            ),
        },
    )
    def upgrade(self, request: AuthenticatedRequest) -> Response:
        """Change the plan, up or down. No payment is taken.

        A request that is sent again with its `Idempotency-Key` gets the first answer again,
        whatever the plan is by now.
        """
        _check_self_service()
        body = read(UpgradeSerializer, request.data)
        subscription = balance.upgrade(
            account=request.user,
            plan=body["plan"],
            request_key=read_request_key(request, body),
        )
        return Response(
            SubscriptionSerializer(subscription).data, headers=replayed(subscription.is_replayed)
        )


class ModelViewSet(ViewSet):
    """The models on offer."""

    @extend_schema(operation_id="listOfferedModels", responses=PickerModelSerializer(many=True))
    def list(self, request: AuthenticatedRequest) -> Response:
        """The models of the web app, with everything that a model picker needs.

        Chat models come first, your favourites before the others, then those for pictures, videos,
        3D assets and speech. Models that you have not `enabled`, or cannot call now, are included.
        """
        models = list_models(request.user)
        return Response([PickerModelSerializer(model).data for model in models])


class UsageViewSet(ViewSet):
    """The signed-in user's calls, and the models that they may call."""

    @extend_schema(
        operation_id="listUsageRecords",
        parameters=[UsageFilterSerializer, *PAGE_PARAMETERS],
        responses=UsageRecordSerializer(many=True),
    )
    def usage(self, request: AuthenticatedRequest) -> Response:
        """The account's calls, newest first."""
        days = read(UsageFilterSerializer, request.query_params.dict())
        charges = list_charges(request.user, first=days.get("from"), last=days.get("to"))
        return NewestFirst().answer(request, charges, UsageRecordSerializer)

    @extend_schema(operation_id="getEntitlements", responses=EntitlementsSerializer)
    def entitlements(self, request: AuthenticatedRequest) -> Response:
        """What you may use, and what is left of it: everything that an interface has to know before
        it offers a model."""
        return Response(EntitlementsSerializer(get_entitlements(request.user)).data)


def _check_self_service() -> None:
    if not settings.SELF_SERVICE_TOPUP:
        raise SelfServiceOff
