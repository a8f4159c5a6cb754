"""The invariants of money: each a query that must return no row. Apps above may register more.

One statement sees one snapshot, and every money verb is one transaction, so they hold at any moment
of a running system. The tests run them after every test that moves money, production every 5 min.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Invariant:
    name: str
    promise: str
    sql: str


@dataclass(frozen=True, slots=True)
class Violation:
    invariant: Invariant
    row: dict[str, Any]


INVARIANTS = (
    Invariant(
        "wallet_bounds",
        "A wallet covers what it holds, and never goes below zero.",
        "SELECT account_id, balance, held FROM billing_wallet"
        " WHERE balance < 0 OR held < 0 OR held > balance",
    ),
    Invariant(
        "wallet_held",
        "A wallet holds exactly what its open charges hold.",
        """
        SELECT w.account_id, w.held, coalesce(c.held, 0) AS charges
        FROM billing_wallet w
        LEFT JOIN (SELECT account_id, sum(hold_balance) AS held FROM billing_charge
                   WHERE status = 'held' GROUP BY account_id) c USING (account_id)
        WHERE w.held <> coalesce(c.held, 0)""",
    ),
    Invariant(
        "allowance_held",
        "An allowance holds exactly what its open charges hold.",
        """
        SELECT account_id, model_id, month, a.held, c.held AS charges
        FROM billing_allowance a
        FULL JOIN (SELECT account_id, model_id, month, sum(hold_plan) AS held
                   FROM billing_charge WHERE status = 'held' AND hold_plan > 0
                   GROUP BY account_id, model_id, month) c USING (account_id, model_id, month)
        WHERE coalesce(a.held, 0) <> coalesce(c.held, 0)""",
    ),
    Invariant(
        "key_month_held",
        "A key's month holds exactly what its open charges hold.",
        """
        SELECT api_key_id, month, k.held, c.held AS charges
        FROM billing_keymonth k
        FULL JOIN (SELECT api_key_id, month, sum(hold_plan + hold_balance) AS held
                   FROM billing_charge WHERE status = 'held' AND api_key_id IS NOT NULL
                   GROUP BY api_key_id, month) c USING (api_key_id, month)
        WHERE coalesce(k.held, 0) <> coalesce(c.held, 0)""",
    ),
    Invariant(
        "allowance_used",
        "An allowance is used by exactly what its charges took from it and was not refunded.",
        """
        SELECT account_id, model_id, month, a.used, c.used AS charges
        FROM billing_allowance a
        FULL JOIN (SELECT c.account_id, model_id, month,
                          sum(charge_plan) - coalesce(sum(r.to_allowance), 0) AS used
                   FROM billing_charge c
                   LEFT JOIN (SELECT charge_id, sum(to_allowance) AS to_allowance
                              FROM billing_refund GROUP BY charge_id) r ON r.charge_id = c.id
                   WHERE charge_plan > 0
                   GROUP BY c.account_id, model_id, month) c USING (account_id, model_id, month)
        WHERE coalesce(a.used, 0) <> coalesce(c.used, 0)""",
    ),
    Invariant(
        "key_month_billed",
        "A key's month has billed exactly what its charges billed.",
        """
        SELECT api_key_id, month, k.billed, c.billed AS charges, k.requests, c.requests AS counted
        FROM billing_keymonth k
        FULL JOIN (SELECT api_key_id, month, sum(charge_plan + charge_balance) AS billed,
                          count(*) AS requests
                   FROM billing_charge
                   WHERE status IN ('settled', 'expired') AND api_key_id IS NOT NULL
                   GROUP BY api_key_id, month) c USING (api_key_id, month)
        WHERE coalesce(k.billed, 0) <> coalesce(c.billed, 0)
           OR coalesce(k.requests, 0) <> coalesce(c.requests, 0)""",
    ),
    Invariant(
        "ledger_chain",
        "A ledger is a gapless chain that ends in the wallet's balance.",
        """
        SELECT w.account_id, w.balance, w.seq, l.total, l.last, l.broken
        FROM billing_wallet w
        LEFT JOIN (SELECT account_id, sum(delta) AS total, max(seq) AS last, count(*) AS entries,
                          count(*) FILTER (WHERE balance_after <> before + delta) AS broken
                   FROM (SELECT account_id, seq, delta, balance_after,
                                lag(balance_after, 1, 0::bigint)
                                    OVER (PARTITION BY account_id ORDER BY seq) AS before
                         FROM billing_ledgerentry) entry
                   GROUP BY account_id) l USING (account_id)
        WHERE w.balance <> coalesce(l.total, 0) OR w.seq <> coalesce(l.last, 0)
           OR coalesce(l.entries, 0) <> w.seq OR l.broken > 0""",
    ),
    Invariant(
        "charge_in_ledger",
        "What a charge took from the balance stands in the ledger, exactly once.",
        """
        SELECT id, c.charge_balance, l.delta
        FROM (SELECT id, charge_balance FROM billing_charge WHERE charge_balance > 0) c
        FULL JOIN (SELECT id, delta FROM billing_ledgerentry WHERE kind = 'charge') l USING (id)
        WHERE coalesce(c.charge_balance, 0) <> -coalesce(l.delta, 0)""",
    ),
    Invariant(
        "refunds",
        "No more is given back of a charge than it billed, and the ledger has it exactly once.",
        """
        SELECT r.id, l.id AS entry, r.charge_id, r.to_balance, l.delta,
               r.plan_total, c.charge_plan, r.balance_total, c.charge_balance
        FROM (SELECT id, account_id, charge_id, to_allowance, plan_part,
                     plan_part + balance_part - to_allowance AS to_balance,
                     sum(plan_part) OVER charges AS plan_total,
                     sum(balance_part) OVER charges AS balance_total
              FROM billing_refund WINDOW charges AS (PARTITION BY charge_id)) r
        FULL JOIN (SELECT id, account_id, delta FROM billing_ledgerentry
                   WHERE kind = 'refund') l ON l.id = r.id
        LEFT JOIN billing_charge c ON c.id = r.charge_id
        WHERE r.to_balance IS DISTINCT FROM l.delta
           OR r.account_id <> coalesce(l.account_id, r.account_id)
           OR r.account_id IS DISTINCT FROM c.account_id
           OR r.to_allowance NOT IN (0, r.plan_part)
           OR r.plan_total > c.charge_plan OR r.balance_total > c.charge_balance""",
    ),
    Invariant(
        "charge_split",
        "Plan part at cost, the rest at twice the cost, nothing negative; held and charged alike.",
        """
        SELECT id, status, worst_cost, hold_plan, hold_balance,
               cost, charge_plan, charge_balance, shortfall
        FROM billing_charge
        WHERE (status = 'held') <> (resolved_at IS NULL)
           OR least(cost, charge_plan, charge_balance, shortfall, hold_plan, hold_balance) < 0
           OR funding = 'customer' AND hold_balance <> 2 * (worst_cost - hold_plan)
           OR funding = 'platform' AND hold_plan + hold_balance + charge_plan + charge_balance > 0
           OR funding = 'customer' AND status <> 'held'
              AND (charge_balance + shortfall <> 2 * (cost - charge_plan) OR charge_plan > cost)""",
    ),
    Invariant(
        "allowance_bounds",
        "An allowance is never overdrawn, unless a plan change lowered it.",
        "SELECT account_id, model_id, month, granted, used, held FROM billing_allowance"
        " WHERE NOT downgraded AND used + held > granted",
    ),
    Invariant(
        "cap_overshoot",
        "A key overshoots its cap by at most one request.",
        """
        SELECT c.api_key_id, c.month, k.monthly_spend_cap AS cap,
               sum(c.charge_plan + c.charge_balance) AS billed
        FROM billing_charge c JOIN accounts_apikey k ON k.id = c.api_key_id
        WHERE k.monthly_spend_cap > 0
        GROUP BY c.api_key_id, c.month, k.monthly_spend_cap
        HAVING bool_and(c.cap_at_hold IS NOT DISTINCT FROM k.monthly_spend_cap)
           AND sum(c.charge_plan + c.charge_balance) - max(c.charge_plan + c.charge_balance)
               >= k.monthly_spend_cap""",
    ),
    Invariant(
        "charge_group",
        "A group holds and has billed exactly what its charges hold and billed.",
        """
        SELECT g.id, g.held, c.held AS charges_held, g.billed, c.billed AS charges_billed
        FROM billing_chargegroup g
        FULL JOIN (SELECT group_id,
                          sum((hold_plan + hold_balance) * (status = 'held')::int) AS held,
                          sum(charge_plan + charge_balance) AS billed
                   FROM billing_charge WHERE group_id IS NOT NULL
                   GROUP BY group_id) c ON c.group_id = g.id
        WHERE g.id IS NULL AND c.held + c.billed > 0
           OR g.held <> coalesce(c.held, 0) OR g.billed <> coalesce(c.billed, 0)""",
    ),
    Invariant(
        "group_budget",
        "A group exceeds its budget only by what calls cost beyond their holds.",
        """
        SELECT g.id, g.budget, sum(c.committed) AS committed
        FROM billing_chargegroup g
        JOIN (SELECT group_id,
                     CASE status WHEN 'held' THEN hold_plan + hold_balance
                          ELSE least(charge_plan + charge_balance, hold_plan + hold_balance)
                     END AS committed
              FROM billing_charge WHERE group_id IS NOT NULL) c ON c.group_id = g.id
        GROUP BY g.id, g.budget HAVING sum(c.committed) > g.budget""",
    ),
    Invariant(
        "nothing_stays_held",
        "No charge is held for more than two minutes past its deadline.",
        "SELECT id, account_id, deadline_at FROM billing_charge WHERE status = 'held'"
        " AND deadline_at < clock_timestamp() - interval '2 minutes'"
        " AND pg_postmaster_start_time() < clock_timestamp() - interval '2 minutes'",
    ),
    Invariant(
        "money_conserved",
        "Money is neither made nor lost: what came in is in balances or was charged.",
        """
        SELECT put_in, balances, charged
        FROM (SELECT coalesce(sum(delta), 0) AS put_in FROM billing_ledgerentry
              WHERE kind <> 'charge') i,
             (SELECT coalesce(sum(balance), 0) AS balances FROM billing_wallet) w,
             (SELECT coalesce(sum(charge_balance), 0) AS charged FROM billing_charge) c
        WHERE put_in <> balances + charged""",
    ),
    Invariant(
        "rollup",
        "The daily rollup says what the charges of users say.",
        """
        SELECT u.account_id, u.day, u.model_id, u.billed, c.billed AS charges
        FROM billing_usagedaily u
        FULL JOIN (SELECT account_id, api_key_id, model_id,
                          (admitted_at AT TIME ZONE 'UTC')::date AS day, count(*) AS requests,
                          coalesce(sum((units ->> 'tokens_in')::int), 0) AS tokens_in,
                          coalesce(sum((units ->> 'tokens_out')::int), 0) AS tokens_out,
                          sum(charge_plan + charge_balance) AS billed
                   FROM billing_charge WHERE status IN ('settled', 'expired')
                    AND (funding = 'customer' OR free_window_start IS NOT NULL)
                   GROUP BY 1, 2, 3, 4) c
               ON u.account_id = c.account_id AND u.day = c.day AND u.model_id = c.model_id
              AND coalesce(u.api_key_id::text, '') = coalesce(c.api_key_id::text, '')
        WHERE (u.requests, u.tokens_in, u.tokens_out, u.billed)
              IS DISTINCT FROM (c.requests, c.tokens_in, c.tokens_out, c.billed)""",
    ),
    Invariant(
        "free_window",
        "A free window has used exactly the messages that were not given back, at most ten.",
        """
        SELECT f.account_id, f.model_id, f.used, count(c.id) AS charges
        FROM billing_freewindow f
        LEFT JOIN billing_charge c ON c.account_id = f.account_id AND c.model_id = f.model_id
             AND c.free_window_start = f.window_start AND c.status <> 'released'
        GROUP BY f.account_id, f.model_id, f.used
        HAVING f.used <> count(c.id) OR f.used > 10""",
    ),
    Invariant(
        "nothing_for_nothing",
        "A released charge billed nothing, and nothing is billed without output.",
        """
        SELECT id, status, cost, charge_plan, charge_balance FROM billing_charge
        WHERE status = 'released' AND (cost > 0 OR charge_plan > 0 OR charge_balance > 0)
           OR status IN ('settled', 'expired') AND first_output_at IS NULL
           OR status = 'held' AND (charge_plan > 0 OR charge_balance > 0)""",
    ),
    Invariant(
        "prices_not_negative",
        "No price is below zero.",
        "SELECT id, model_id FROM catalog_priceversion WHERE least(input, output, token_fee,"
        " image_low, image_standard, image_high, image_fee, speech_hour, speech_fee, unit_fee) < 0"
        " OR jsonb_path_exists(unit_rates, '$.* ? (@ < 0)')",
    ),
    Invariant(
        "open_charges",
        "A wallet counts its open charges.",
        """
        SELECT w.account_id, w.open_charges, count(c.id) AS charges
        FROM billing_wallet w
        LEFT JOIN billing_charge c ON c.account_id = w.account_id AND c.status = 'held'
        GROUP BY w.account_id, w.open_charges
        HAVING w.open_charges <> count(c.id)""",
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


def get_invariants() -> list[Invariant]:
    """All invariants of this process."""
    return _registered
