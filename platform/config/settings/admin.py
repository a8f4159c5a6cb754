"""The operators' admin: names, colours, and its menu."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy

from admin_ui.ranks import may_view


def _page(title: str, icon: str, model: str) -> dict[str, Any]:
    """A list of the admin as an item of the menu, for operators who may open it."""
    app, name = model.split(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{name}_changelist"),
        "permission": lambda request: may_view(request.user, model),
    }


def _group(title: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "separator": True, "items": [*items]}


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Multi-model AI platform",
    "SITE_HEADER": "Multi-model AI platform",
    "SITE_SUBHEADER": "Operators",
    "SITE_SYMBOL": "hub",
    "SITE_URL": None,
    "SHOW_VIEW_ON_SITE": False,
    "STYLES": [lambda request: static("admin_ui/style.css")],
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {
            "50": "oklch(97% .014 254.604)",
            "100": "oklch(93.2% .032 255.585)",
            "200": "oklch(88.2% .059 254.128)",
            "300": "oklch(80.9% .105 251.813)",
            "400": "oklch(70.7% .165 254.624)",
            "500": "oklch(62.3% .214 259.815)",
            "600": "oklch(54.6% .245 262.881)",
            "700": "oklch(48.8% .243 264.376)",
            "800": "oklch(42.4% .199 265.638)",
            "900": "oklch(37.9% .146 265.522)",
            "950": "oklch(28.2% .091 267.935)",
        },
    },
    # In the operator's own menu.
    "ACCOUNT": {
        "navigation": [
            {"title": "Change password", "link": reverse_lazy("admin:password_change")},
            {"title": "Second factor", "link": reverse_lazy("admin:second_factor")},
        ],
    },
    # Ctrl + K.
    "COMMAND": {"search_callback": "billing.finding.command_results"},
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": [
            {
                "items": [
                    {
                        "title": "Dashboard",
                        "icon": "monitoring",
                        "link": reverse_lazy("admin:index"),
                    },
                ],
            },
            _group(
                "People",
                _page("Users", "group", "accounts.user"),
                _page("API keys", "key", "accounts.apikey"),
                _page("Sessions", "devices", "accounts.usersession"),
                _page("Deletions of data", "delete_forever", "userdata.deletion"),
                _page("Groups of operators", "badge", "auth.group"),
            ),
            _group(
                "Teams",
                _page("Teams", "diversity_3", "teams.team"),
                _page("Members", "badge", "teams.member"),
                _page("Invitations", "outgoing_mail", "teams.invitation"),
                _page("Audit log of teams", "history", "teams.auditentry"),
            ),
            _group(
                "Money",
                _page("Subscriptions", "card_membership", "billing.subscription"),
                _page("Wallets", "account_balance_wallet", "billing.wallet"),
                _page("Ledger", "receipt_long", "billing.ledgerentry"),
                _page("Charges", "bolt", "billing.charge"),
                _page("Usage by day", "bar_chart", "billing.usagedaily"),
                _page("Plans", "sell", "billing.plan"),
                _page("Contracts", "contract", "billing.contractallowance"),
            ),
            _group(
                "Catalog",
                _page("Models", "smart_toy", "catalog.aimodel"),
                _page("Prices", "price_change", "catalog.priceversion"),
                _page("Providers", "cloud", "health.provider"),
                _page("Retired names", "history_toggle_off", "catalog.retiredmodel"),
            ),
            _group(
                "Content",
                _page("Feature flags", "flag", "content.flagrecord"),
                _page("Pages, news, banners", "article", "content.entry"),
                _page("Revisions", "history", "content.revision"),
            ),
            _group(
                "Work",
                _page("Conversations", "forum", "conversations.conversation"),
                _page("Feedback", "thumbs_up_down", "conversations.feedback"),
                _page("Councils", "groups", "council.session"),
                _page("Generation jobs", "palette", "studios.generation"),
                _page("Project runs", "account_tree", "projects.run"),
                _page("Written changes", "commit", "projects.apply"),
                _page("Jobs", "work_history", "jobs.job"),
                _page("Operations of providers", "hourglass", "operations.operation"),
            ),
            _group(
                "Accounts elsewhere",
                _page("Connectors", "link", "connectors.connector"),
                _page("Workspaces", "source", "workspaces.workspace"),
            ),
            _group(
                "Files",
                _page("Uploads", "upload_file", "files.upload"),
                _page("Stored files", "folder_open", "files.storedfile"),
            ),
            _group(
                "System",
                _page("Audit log", "policy", "admin.logentry"),
                _page("Failed sign-ins", "lock_clock", "accounts.signinfailures"),
                _page("Outgoing mail", "mail", "accounts.outgoingemail"),
            ),
        ],
    },
}

FORMAT_MODULE_PATH = "config.formats"
# Operators sign in once a working day. Nobody else has a session.
SESSION_COOKIE_AGE = 12 * 60 * 60
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
