"""The invariants of money: each a query that must return no row. Apps above may register more.

Most read the relations of a check (`billing/sql/90_checks.sql`) instead of the tables: what
changed since the last pass, or all that some accounts have. So the same query checks the last five
minutes and the whole history. Everything is of one snapshot, and every money verb is one
transaction, so they hold at any moment of a running system. The tests run them after every test
that moves money.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Reads(Enum):
    """When an invariant is checked, by what it reads."""

    # The relations of a check: at each pass, and for some accounts after the others.
    CHANGES = "changes"
    # The same, which have to have all of an account.
    ACCOUNTS = "accounts"
    # Small tables and open charges: at each pass.
    FEW = "few"
    # Whole tables.
    TABLES = "tables"


@dataclass(frozen=True, slots=True)
class Invariant:
    name: str
    promise: str
    sql: str
    reads: Reads = Reads.TABLES


@dataclass(frozen=True, slots=True)
class Violation:
    invariant: Invariant
    row: dict[str, Any]


INVARIANTS = (
    Invariant(
        "wallet_bounds",
        "A wallet covers what it holds, and never goes below zero.",
        "SELECT account_id, balance, held FROM checked_account JOIN billing_wallet"
        " USING (account_id) WHERE balance < 0 OR held < 0 OR held > balance",
        Reads.CHANGES,
    ),
    Invariant(
        "wallets",
        "Every account has a wallet, and every charge is of such an account.",
        "SELECT id FROM (SELECT id FROM accounts_user UNION ALL SELECT account_id FROM"
        " billing_charge) a WHERE NOT EXISTS (SELECT FROM billing_wallet WHERE account_id = id)",
    ),
    Invariant(
        "wallet_held",
        "A wallet holds exactly what its open charges hold.",
        """
        SELECT account_id, w.held, coalesce(c.held, 0) AS charges
        FROM checked_account JOIN billing_wallet w USING (account_id)
        LEFT JOIN (SELECT account_id, sum(hold_balance) AS held FROM checked_charge
                   WHERE status = 'held' GROUP BY account_id) c USING (account_id)
        WHERE w.held <> coalesce(c.held, 0)""",
        Reads.CHANGES,
    ),
    Invariant(
        "allowance_held",
        "An allowance holds exactly what its open charges hold.",
        """
        SELECT account_id, model_id, month, a.held, c.held AS charges
        FROM (SELECT account_id, model_id, month, held
              FROM billing_allowance JOIN checked_month USING (account_id, month)) a
        FULL JOIN (SELECT account_id, model_id, month, sum(hold_plan) AS held
                   FROM checked_charge WHERE status = 'held' AND hold_plan > 0
                   GROUP BY account_id, model_id, month) c USING (account_id, model_id, month)
        WHERE coalesce(a.held, 0) <> coalesce(c.held, 0)""",
        Reads.CHANGES,
    ),
    Invariant(
        "key_month_held",
        "A key's month holds exactly what its open charges hold.",
        """
        SELECT api_key_id, month, k.held, c.held AS charges
        FROM (SELECT api_key_id, month, held FROM billing_keymonth
              JOIN accounts_apikey key ON key.id = api_key_id
              JOIN checked_month USING (account_id, month)) k
        FULL JOIN (SELECT api_key_id, month, sum(hold_plan + hold_balance) AS held
                   FROM checked_charge WHERE status = 'held' AND api_key_id IS NOT NULL
                   GROUP BY api_key_id, month) c USING (api_key_id, month)
        WHERE coalesce(k.held, 0) <> coalesce(c.held, 0)""",
        Reads.CHANGES,
    ),
    Invariant(
        "allowance_used",
        "An allowance is used by exactly what its charges took from it and was not refunded.",
        """
        SELECT account_id, model_id, month, a.used, c.used AS charges
        FROM (SELECT account_id, model_id, month, used
              FROM billing_allowance JOIN checked_month USING (account_id, month)) a
        FULL JOIN (SELECT account_id, model_id, month, sum(plan) AS used
                   FROM (SELECT account_id, model_id, month, plan FROM checked_total
                         UNION ALL
                         SELECT account_id, model_id, month, -to_allowance FROM billing_refund
                         JOIN checked_month USING (account_id, month)) paid
                   GROUP BY account_id, model_id, month) c USING (account_id, model_id, month)
        WHERE coalesce(a.used, 0) <> coalesce(c.used, 0)""",
        Reads.CHANGES,
    ),
    Invariant(
        "key_month_billed",
        "A key's month has billed exactly what its charges billed.",
        """
        SELECT api_key_id, month, k.billed, c.billed AS charges, k.requests, c.requests AS counted
        FROM (SELECT api_key_id, month, billed, requests FROM billing_keymonth
              JOIN accounts_apikey key ON key.id = api_key_id
              JOIN checked_month USING (account_id, month)) k
        FULL JOIN (SELECT api_key_id, month, sum(plan + balance) AS billed,
                          sum(charges) AS requests
                   FROM checked_total WHERE api_key_id IS NOT NULL
                   GROUP BY api_key_id, month) c USING (api_key_id, month)
        WHERE coalesce(k.billed, 0) <> coalesce(c.billed, 0)
           OR coalesce(k.requests, 0) <> coalesce(c.requests, 0)""",
        Reads.CHANGES,
    ),
    Invariant(
        "ledger_chain",
        "A ledger is a gapless chain from nothing.",
        """
        SELECT e.account_id, e.seq, e.delta, e.balance_after, p.balance_after AS before
        FROM checked_entry e
        LEFT JOIN billing_ledgerentry p ON p.account_id = e.account_id AND p.seq = e.seq - 1
        WHERE e.balance_after <> coalesce(p.balance_after, 0) + e.delta
           OR (p.id IS NULL) <> (e.seq = 1)""",
        Reads.CHANGES,
    ),
    Invariant(
        "ledger_ends_in_balance",
        "A ledger ends in the wallet's balance.",
        """
        SELECT account_id, w.balance, w.seq, l.balance_after, l.seq AS last
        FROM checked_account JOIN billing_wallet w USING (account_id)
        LEFT JOIN LATERAL (SELECT seq, balance_after FROM billing_ledgerentry e
                           WHERE e.account_id = w.account_id
                           ORDER BY seq DESC LIMIT 1) l ON true
        WHERE w.balance <> coalesce(l.balance_after, 0) OR w.seq <> coalesce(l.seq, 0)""",
        Reads.CHANGES,
    ),
    Invariant(
        "charge_in_ledger",
        "What a charge took from the balance stands in the ledger, exactly once.",
        """
        SELECT id, c.charge_balance, l.delta
        FROM (SELECT id, charge_balance FROM checked_charge WHERE charge_balance > 0) c
        FULL JOIN (SELECT id, delta FROM checked_entry WHERE kind = 'charge') l USING (id)
        WHERE coalesce(c.charge_balance, 0) <> -coalesce(l.delta, 0)
          AND NOT (c.id IS NULL AND charge_is_dropped(l.id))""",
        Reads.CHANGES,
    ),
    Invariant(
        "dropped_in_ledger",
        "What the charges of a dropped month took from the balance stands in the ledger.",
        """
        SELECT account_id, period, t.balance, l.balance AS ledger
        FROM (SELECT account_id, period, sum(balance) AS balance FROM billing_chargetotal
              JOIN checked_account USING (account_id) GROUP BY 1, 2) t
        FULL JOIN (SELECT account_id, m.period, -sum(delta) AS balance FROM billing_chargemonth m
                   JOIN checked_entry e ON e.kind = 'charge' AND period_of(e.id) = m.period
                   WHERE m.dropped_at IS NOT NULL GROUP BY 1, 2) l USING (account_id, period)
        WHERE coalesce(t.balance, 0) <> coalesce(l.balance, 0)
          AND period IN (SELECT period FROM billing_chargemonth WHERE dropped_at IS NOT NULL)""",
        Reads.ACCOUNTS,
    ),
    Invariant(
        "refunds",
        "No more is given back of a charge than it billed, and the ledger has it exactly once.",
        """
        SELECT r.id, l.id AS entry, r.charge_id, r.to_balance, l.delta,
               r.plan_total, c.charge_plan, r.balance_total, c.charge_balance
        FROM (SELECT r.id, r.account_id, r.charge_id, r.model_id, r.month,
                     r.to_allowance, r.plan_part,
                     r.plan_part + r.balance_part - r.to_allowance AS to_balance,
                     sum(every.plan_part) AS plan_total, sum(every.balance_part) AS balance_total
              FROM checked_refund JOIN billing_refund r USING (id)
              JOIN billing_refund every ON every.charge_id = r.charge_id
              GROUP BY r.id) r
        FULL JOIN (SELECT id, account_id, delta FROM checked_entry
                   WHERE kind = 'refund') l ON l.id = r.id
        LEFT JOIN billing_charge c ON c.id = r.charge_id
        WHERE r.to_balance IS DISTINCT FROM l.delta
           OR r.account_id <> coalesce(l.account_id, r.account_id)
           OR r.to_allowance NOT IN (0, r.plan_part)
           OR r.plan_total > c.charge_plan OR r.balance_total > c.charge_balance
           OR (r.account_id, r.model_id, r.month)
              IS DISTINCT FROM (c.account_id, c.model_id, c.month)
              AND NOT (c.id IS NULL AND charge_is_dropped(r.charge_id))""",
        Reads.CHANGES,
    ),
    Invariant(
        "charge_split",
        "Plan part at cost, the rest at twice the cost, nothing negative; held and charged alike.",
        """
        SELECT id, status, worst_cost, hold_plan, hold_balance,
               cost, charge_plan, charge_balance, shortfall
        FROM checked_charge
        WHERE (status = 'held') <> (resolved_at IS NULL)
           OR least(cost, charge_plan, charge_balance, shortfall, hold_plan, hold_balance) < 0
           OR funding = 'customer' AND hold_balance <> 2 * (worst_cost - hold_plan)
           OR funding = 'platform' AND hold_plan + hold_balance + charge_plan + charge_balance > 0
           OR funding = 'customer' AND status <> 'held'
              AND (charge_balance + shortfall <> 2 * (cost - charge_plan) OR charge_plan > cost)""",
        Reads.CHANGES,
    ),
    Invariant(
        "allowance_bounds",
        "An allowance is never overdrawn, unless a plan change lowered it.",
        "SELECT account_id, model_id, month, granted, used, held"
        " FROM billing_allowance JOIN checked_month USING (account_id, month)"
        " WHERE NOT downgraded AND used + held > granted",
        Reads.CHANGES,
    ),
    Invariant(
        "cap_overshoot",
        "A key overshoots its cap by at most one request.",
        """
        SELECT t.api_key_id, t.month, k.monthly_spend_cap AS cap,
               sum(t.plan + t.balance) AS billed
        FROM checked_total t JOIN accounts_apikey k ON k.id = t.api_key_id
        WHERE k.monthly_spend_cap > 0
        GROUP BY t.api_key_id, t.month, k.monthly_spend_cap
        HAVING min(t.least_cap) = k.monthly_spend_cap AND max(t.greatest_cap) = k.monthly_spend_cap
           AND sum(t.plan + t.balance) - max(t.largest) >= k.monthly_spend_cap""",
        Reads.CHANGES,
    ),
    Invariant(
        "charge_group",
        "A group holds and has billed exactly what its charges hold and billed.",
        """
        SELECT c.id, g.held, c.held AS charges_held, g.billed, c.billed AS charges_billed
        FROM checked_group c LEFT JOIN billing_chargegroup g USING (id)
        WHERE g.id IS NULL AND c.held + c.billed > 0 OR g.held <> c.held OR g.billed <> c.billed""",
        Reads.CHANGES,
    ),
    Invariant(
        "group_budget",
        "A group exceeds its budget only by what calls cost beyond their holds.",
        "SELECT id, g.budget, c.committed + c.held AS committed"
        " FROM checked_group c JOIN billing_chargegroup g USING (id)"
        " WHERE c.committed + c.held > g.budget",
        Reads.CHANGES,
    ),
    Invariant(
        "nothing_stays_held",
        "No charge is held for more than two minutes past its deadline.",
        "SELECT id, account_id, deadline_at FROM billing_charge WHERE status = 'held'"
        " AND deadline_at < clock_timestamp() - interval '2 minutes'"
        " AND pg_postmaster_start_time() < clock_timestamp() - interval '2 minutes'",
        Reads.FEW,
    ),
    Invariant(
        "money_conserved",
        "Money is neither made nor lost: what came in is in the balance or was charged.",
        """
        SELECT account_id, put_in, w.balance, charged
        FROM checked_account JOIN billing_wallet w USING (account_id)
        LEFT JOIN (SELECT account_id, sum(delta) AS put_in FROM checked_entry
                   WHERE kind <> 'charge' GROUP BY account_id) i USING (account_id)
        LEFT JOIN (SELECT account_id, sum(balance) AS charged FROM checked_total
                   GROUP BY account_id) c USING (account_id)
        WHERE coalesce(put_in, 0) <> w.balance + coalesce(charged, 0)""",
        Reads.ACCOUNTS,
    ),
    Invariant(
        "rollup",
        "The daily rollup says in a month what the charges of users say.",
        """
        SELECT u.account_id, u.month, u.model_id, u.billed, c.billed AS charges
        FROM (SELECT account_id, api_key_id, model_id, month, sum(requests) AS requests,
                     sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out,
                     sum(billed) AS billed
              FROM checked_month JOIN billing_usagedaily u USING (account_id)
              WHERE day >= month AND day < month + interval '1 month'
              GROUP BY 1, 2, 3, 4) u
        FULL JOIN (SELECT account_id, api_key_id, model_id, month, sum(requests) AS requests,
                          sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out,
                          sum(plan + balance) AS billed
                   FROM checked_total GROUP BY 1, 2, 3, 4 HAVING sum(requests) > 0) c
               ON u.account_id = c.account_id AND u.month = c.month AND u.model_id = c.model_id
              AND coalesce(u.api_key_id::text, '') = coalesce(c.api_key_id::text, '')
        WHERE (u.requests, u.tokens_in, u.tokens_out, u.billed)
              IS DISTINCT FROM (c.requests, c.tokens_in, c.tokens_out, c.billed)""",
        Reads.CHANGES,
    ),
    Invariant(
        "rollup_of_days",
        "The daily rollup says of each day what the charges of users say, where all are kept.",
        """
        SELECT u.account_id, u.day, u.model_id, u.billed, c.billed AS charges
        FROM (SELECT * FROM billing_usagedaily JOIN checked_account USING (account_id)) u
        FULL JOIN (SELECT account_id, api_key_id, model_id,
                          (admitted_at AT TIME ZONE 'UTC')::date AS day, count(*) AS requests,
                          coalesce(sum((units ->> 'tokens_in')::bigint), 0) AS tokens_in,
                          coalesce(sum((units ->> 'tokens_out')::bigint), 0) AS tokens_out,
                          sum(charge_plan + charge_balance) AS billed
                   FROM checked_charge WHERE status IN ('settled', 'expired') AND is_of_user
                   GROUP BY 1, 2, 3, 4) c
               ON u.account_id = c.account_id AND u.day = c.day AND u.model_id = c.model_id
              AND coalesce(u.api_key_id::text, '') = coalesce(c.api_key_id::text, '')
        WHERE (u.requests, u.tokens_in, u.tokens_out, u.billed)
              IS DISTINCT FROM (c.requests, c.tokens_in, c.tokens_out, c.billed)
          AND NOT EXISTS (SELECT FROM billing_chargetotal t JOIN billing_chargemonth USING (period)
                          WHERE dropped_at IS NOT NULL AND t.account_id = u.account_id
                            AND t.month = date_trunc('month', u.day))""",
        Reads.ACCOUNTS,
    ),
    Invariant(
        "free_window",
        "A free window has used exactly the messages that were not given back, at most ten.",
        """
        SELECT f.account_id, f.model_id, f.used, count(c.id) AS charges
        FROM billing_freewindow f JOIN checked_account USING (account_id)
        LEFT JOIN checked_charge c ON c.account_id = f.account_id AND c.model_id = f.model_id
             AND c.free_window_start = f.window_start AND c.status <> 'released'
        WHERE NOT EXISTS (SELECT FROM billing_chargetotal t JOIN billing_chargemonth USING (period)
                          WHERE dropped_at IS NOT NULL AND t.account_id = f.account_id
                            AND t.month >= date_trunc('month', f.window_start))
        GROUP BY f.account_id, f.model_id, f.used
        HAVING f.used <> count(c.id) OR f.used > 10""",
        Reads.ACCOUNTS,
    ),
    Invariant(
        "totals",
        "The totals have exactly the charges that the last passed check has seen.",
        """
        SELECT account_id, period, month, model_id, t.charges, c.charges AS counted
        FROM (SELECT account_id, period, month, model_id, coalesce(api_key_id::text, '') AS key,
                     charges, plan, balance
              FROM billing_chargetotal JOIN checked_account USING (account_id)
              WHERE period NOT IN (SELECT period FROM billing_chargemonth
                                   WHERE dropped_at IS NOT NULL)) t
        FULL JOIN (SELECT account_id, period, month, model_id,
                          coalesce(api_key_id::text, '') AS key, count(*) AS charges,
                          sum(charge_plan) AS plan, sum(charge_balance) AS balance
                   FROM checked_charge WHERE status IN ('settled', 'expired') AND is_counted
                   GROUP BY 1, 2, 3, 4, 5) c USING (account_id, period, month, model_id, key)
        WHERE (t.charges, t.plan, t.balance) IS DISTINCT FROM (c.charges, c.plan, c.balance)
          AND last_passed() IS NOT NULL""",
        Reads.ACCOUNTS,
    ),
    Invariant(
        "nothing_for_nothing",
        "A released charge billed nothing, and nothing is billed without output.",
        """
        SELECT id, status, cost, charge_plan, charge_balance FROM checked_charge
        WHERE status = 'released' AND (cost > 0 OR charge_plan > 0 OR charge_balance > 0)
           OR status IN ('settled', 'expired') AND first_output_at IS NULL
           OR status = 'held' AND (charge_plan > 0 OR charge_balance > 0)""",
        Reads.CHANGES,
    ),
    Invariant(
        "prices_not_negative",
        "No price is below zero, and input from a cache costs no more than other input.",
        "SELECT id, model_id FROM catalog_priceversion WHERE least(input, cached_input, output,"
        " token_fee, image_low, image_standard, image_high, image_fee, speech_hour, speech_fee,"
        " unit_fee) < 0 OR cached_input > input OR jsonb_path_exists(unit_rates, '$.* ? (@ < 0)')",
        Reads.FEW,
    ),
    Invariant(
        "open_charges",
        "A wallet counts its open charges.",
        """
        SELECT account_id, w.open_charges, coalesce(c.charges, 0) AS charges
        FROM checked_account JOIN billing_wallet w USING (account_id)
        LEFT JOIN (SELECT account_id, count(*) AS charges FROM checked_charge
                   WHERE status = 'held' GROUP BY account_id) c USING (account_id)
        WHERE w.open_charges <> coalesce(c.charges, 0)""",
        Reads.CHANGES,
    ),
    Invariant(
        "stored_answers",
        "An answer is kept for repeated requests only where its call was settled.",
        """
        SELECT k.account_id, k.route, k.key, k.charge_id, c.status
        FROM billing_idempotencykey k LEFT JOIN billing_charge c ON c.id = k.charge_id
        WHERE k.answer IS NOT NULL AND c.status IS DISTINCT FROM 'settled'""",
    ),
)

_registered = list(INVARIANTS)


def register(*invariants: Invariant) -> None:
    """Have these checked together with those of this module."""
    _registered.extend(invariants)


def get_invariants(*reads: Reads) -> list[Invariant]:
    """The invariants of this process that read one of these; without any, all."""
    return [each for each in _registered if not reads or each.reads in reads]
