/**
 * A day of two people, with openapi-fetch and the types that openapi-typescript makes of
 * `/openapi.json`.
 *
 * Usage: BASE_URL=... PASSWORD=... node day.js ALICE BOB
 *
 * ALICE and BOB are two addresses without an account. The program asks for the tokens in their
 * mails, and prints what happens. The service has to run with SELF_SERVICE_TOPUP, as `make run` does.
 */

import assert from "node:assert/strict";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Schemas = components["schemas"];
type Service = Client<paths>;

interface Person {
  address: string;
  service: Service;
}

const { BASE_URL: baseUrl = "", PASSWORD: password = "" } = process.env;
const QUESTION = "Why is the sea blue?";
const MODEL = "gpt-6-luna";
const OTHER_MODEL = "claude-haiku-5-5";
const TOPUP_USD = 10;
const PATIENCE = 60_000; // milliseconds for which work in the background is waited for

const input = createInterface({ input: process.stdin });
const answers = input[Symbol.asyncIterator]();
const visitor = createClient<paths>({ baseUrl });
const signedIn = (token: string): Service =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

/** What an operation answers where nothing is refused. */
async function done<Data>(
  outcome: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<NonNullable<Data>> {
  const { data, error, response } = await outcome;
  if (error !== undefined) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data!;
}

/** What is seen when it has ended. */
async function waitedFor<Seen>(look: () => Promise<Seen>, hasEnded: (seen: Seen) => boolean) {
  for (const deadline = Date.now() + PATIENCE; Date.now() < deadline; await sleep(250)) {
    const seen = await look();
    if (hasEnded(seen)) return seen;
  }
  throw new Error("It takes too long.");
}

// --- Accounts and money ------------------------------------------------------------------------

/** Ask for the token in the link of the mail that leads to this page. */
async function mailedToken(address: string, page: string): Promise<string> {
  console.log(`The token of the mail to ${address} that leads to ${page}:`);
  return (await answers.next()).value.trim();
}

async function signUp(address: string, name: string): Promise<Person> {
  const body = { email: address, password, name };
  const tokens = await done(visitor.POST("/api/auth/signup", { body }));
  const service = signedIn(tokens.access_token);
  const token = await mailedToken(address, "/verify-email");
  await done(service.POST("/api/auth/verify-email", { body: { token } }));
  assert((await done(service.GET("/api/auth/me"))).email_verified);
  return { address, service };
}

/** What is refused is answered by a type that says why, not by an exception. */
async function meetRefusals({ service }: Person) {
  const order = { prompt: QUESTION, models: [MODEL, OTHER_MODEL] };
  const unpaid = await service.POST("/api/council/sessions", { body: order });
  assert(unpaid.error && typeof unpaid.error.detail === "object");
  assert(unpaid.error.detail.code === "plan_required");
  console.log(`402 ${unpaid.error.detail.code}: ${unpaid.error.detail.feature}`);

  const invalid = await service.POST("/api/billing/topup", { body: { amount_usd: 0.5 } });
  assert(invalid.error && "errors" in invalid.error);
  console.log(`422 ${invalid.error.code}: ${invalid.error.errors[0]?.loc}`);
}

async function pay({ service }: Person) {
  const body = { amount_usd: TOPUP_USD };
  const paid = await done(service.POST("/api/billing/topup", { body }));
  const plan = (await done(service.GET("/api/billing/plans"))).find((each) => each.api_access);
  assert(plan);
  const chosen = await done(service.POST("/api/billing/upgrade", { body: { plan: plan.key } }));
  console.log(`${paid.kind}: ${paid.amount_usd} USD, plan: ${chosen.plan}`);
}

/** Nano-dollars, in which the service counts: sums of floats would not be exact. */
const exact = (usd: number) => BigInt(Math.round(usd * 1e9));
const sum = (amounts: bigint[]) => amounts.reduce((total, each) => total + each, 0n);
const paidFor = (call: { paid_by_plan_usd: number | null; paid_by_balance_usd: number | null }) => {
  assert(call.paid_by_plan_usd !== null && call.paid_by_balance_usd !== null); // null while it is not known
  return exact(call.paid_by_plan_usd) + exact(call.paid_by_balance_usd);
};

/** What the parts of the day have cost is what is listed, and what the wallet has given. */
async function readTheBill({ service }: Person, parts: Record<string, bigint>) {
  const query = { limit: 100 };
  const records = await done(service.GET("/api/users/me/usage", { params: { query } }));
  const wallet = await done(service.GET("/api/billing/wallet"));
  const billed = sum(records.map(paidFor));
  const fromPlan = sum(wallet.allowances.map((each) => exact(each.used_usd)));
  assert.equal(billed, fromPlan + exact(TOPUP_USD) - exact(wallet.balance_usd));
  assert.equal(billed, sum(Object.values(parts)));
  const usd = (amount: bigint) => (Number(amount) / 1e9).toFixed(9);
  const costs = Object.entries({ ...parts, billed }).map(([name, cost]) => [name, usd(cost)]);
  console.log(JSON.stringify(Object.fromEntries(costs)));
}

// --- Talking -----------------------------------------------------------------------------------

/** The models are listed with all that it takes to pick one. */
async function pictureModel({ service }: Person): Promise<string> {
  const models = await done(service.GET("/api/models"));
  const offered = models.filter((each) => each.callable);
  assert([MODEL, OTHER_MODEL].every((id) => offered.some((each) => each.id === id)));
  console.log(`${models.length} models, of which ${offered.length} can be called`);
  return offered.find((each) => each.modality === "image")!.id;
}

/** A program of alice's calls `/v1`. Returns what it was billed. */
async function callWithAKey({ service }: Person): Promise<bigint> {
  const key = await done(service.POST("/api/keys", { body: { name: "laptop" } }));
  const program = signedIn(key.key);
  const body = { model: MODEL, messages: [{ role: "user" as const, content: QUESTION }] };
  const completion = await done(program.POST("/v1/chat/completions", { body }));
  assert("object" in completion && completion.object === "chat.completion");
  console.log(`/v1: ${shortened(completion.choices[0]!.message.content ?? "")}`);
  const records = await done(service.GET("/api/users/me/usage"));
  const billed = records.find((each) => each.source === "api");
  assert(billed);
  return paidFor(billed);
}

/** A message, whose reply is read as it is written; another reply; and the whole is shared. */
async function talk({ service }: Person): Promise<bigint> {
  const { id } = await done(service.POST("/api/conversations", { body: { model: MODEL } }));
  const path = { conversation_id: id };
  const first = await say(service, id, QUESTION);
  const again = await done(
    service.POST("/api/conversations/{conversation_id}/messages/{message_id}/regenerate", {
      params: { path: { ...path, message_id: first.messageId } },
      body: { stream: false },
    }),
  );
  assert(typeof again === "object" && again.usage);
  const share = await done(
    service.POST("/api/conversations/{conversation_id}/share", { params: { path } }),
  );
  const shared = await done(
    visitor.GET("/api/conversations/shared/{share_token}", {
      params: { path: { share_token: share.share_token } },
    }),
  );
  const contents = shared.messages.map((each) => each.content);
  assert.deepEqual(contents, [QUESTION, again.message.content]);
  console.log(`conversation: ${shortened(first.text)}, shared as ${share.url}`);
  return first.cost + paidFor(again.usage);
}

/** Send a message, and read the reply as a stream of events. */
async function say(service: Service, conversationId: string, content: string) {
  const stream = await done(
    service.POST("/api/conversations/{conversation_id}/messages", {
      params: { path: { conversation_id: conversationId } },
      body: { content },
      parseAs: "stream",
    }),
  );
  const reply = { messageId: "", text: "", cost: 0n };
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split("\n\n");
    rest = events.pop()!; // not yet whole
    for (const event of events) {
      const data = event.split("\ndata: ")[1];
      if (data === undefined || data === "[DONE]") continue;
      const part = JSON.parse(data);
      if (part.type === "start") reply.messageId = part.messageId;
      if (part.type === "text-delta") reply.text += part.delta;
      if (part.type === "finish") reply.cost = paidFor(part.usage);
    }
  }
  return reply;
}

const shortened = (text: string) => JSON.stringify(text).slice(0, 60);

// --- What workers do ---------------------------------------------------------------------------

/** Read the events after this one until one of the last type. Returns its number. */
async function followCouncil({ service }: Person, id: string, lastType: string, after = 0) {
  const path = { session_id: id };
  return waitedFor(
    async () => {
      const params = { path, query: { after_seq: after } };
      const page = await done(
        service.GET("/api/council/sessions/{session_id}/events", { params }),
      );
      const last = page.find((event) => event.type === lastType);
      after = last?.seq ?? page.at(-1)?.seq ?? after;
      return last?.seq ?? 0;
    },
    (seq) => seq > 0,
  );
}

/** The answers of a council become one. Returns what all of it has cost. */
async function merge(alice: Person, council: Schemas["CouncilSession"]): Promise<bigint> {
  const params = { path: { session_id: council.id } };
  const seen = await followCouncil(alice, council.id, "session.completed");
  const { service } = alice;
  const card = await done(service.POST("/api/council/sessions/{session_id}/merge", { params }));
  await followCouncil(alice, council.id, "merge.completed", seen);
  const ended = await waitedFor(
    () => done(service.GET("/api/council/sessions/{session_id}", { params })),
    ({ activity }) => activity === null,
  );
  const merged = ended.cards.find(({ id }) => id === card.id);
  assert(merged?.status === "completed");
  console.log(`council: ${shortened(merged.content)}`);
  return exact(ended.cost_usd);
}

/** A run goes on to its end, and its final text is downloaded. Returns what the run has cost. */
async function takeTheResult({ service }: Person, run: Schemas["ProjectSession"]) {
  const params = { path: { session_id: run.id } };
  const ended = await waitedFor(
    () => done(service.GET("/api/project/sessions/{session_id}", { params })),
    ({ status }) => status !== "queued" && status !== "running",
  );
  assert(ended.status === "completed");
  const final = ended.deliverables.find(({ subtask_id }) => subtask_id === null);
  assert(final);
  const text = await done(
    service.GET("/api/project/deliverables/{deliverable_id}/download", {
      params: { path: { deliverable_id: final.id } },
      parseAs: "text",
    }),
  );
  assert.equal(Buffer.byteLength(text), final.size);
  console.log(`run: ${shortened(text)}`);
  return exact(ended.cost_usd);
}

/** A job is polled until it has ended. Whoever has the links of its pictures gets them. */
async function takeThePictures({ service }: Person, order: Schemas["Job"]): Promise<bigint> {
  const params = { path: { job_id: order.id } };
  const ended = await waitedFor(
    () => done(service.GET("/api/jobs/{job_id}", { params })),
    ({ status }) => status !== "queued" && status !== "running",
  );
  assert(ended.status === "completed" && ended.cost_usd !== null);
  for (const { url, size, width, height } of ended.outputs) {
    const picture = await fetch(url!);
    assert.equal((await picture.arrayBuffer()).byteLength, size);
    console.log(`picture: ${picture.headers.get("content-type")}, ${width} x ${height}`);
  }
  return exact(ended.cost_usd);
}

async function exportTheData({ service }: Person) {
  await done(service.POST("/api/users/me/export"));
  const ended = await waitedFor(
    () => done(service.GET("/api/users/me/export")),
    ({ status }) => status !== "queued" && status !== "running",
  );
  const file = await fetch(ended.url!);
  assert.equal((await file.arrayBuffer()).byteLength, ended.size);
  console.log(`export: ${ended.size} bytes`);
}

// --- Others ------------------------------------------------------------------------------------

/** Alice creates a team, and bob owns it in the end. */
async function shareATeam(alice: Person, bob: Person) {
  const { service } = alice;
  await done(service.POST("/api/teams/me", { body: { name: "Sea" } }));
  await done(service.POST("/api/teams/me/invites", { body: { email: bob.address } }));
  const token = await mailedToken(bob.address, "/invitations");
  const joined = await done(
    bob.service.POST("/api/teams/invites/{token}/accept", { params: { path: { token } } }),
  );
  const member_id = joined.members.find(({ email }) => email === bob.address)!.id;
  const changed = await done(
    service.PATCH("/api/teams/me/members/{member_id}", {
      params: { path: { member_id } },
      body: { role: "admin" },
    }),
  );
  assert.equal(changed.role, "admin");
  const transfer = { body: { member_id } };
  const team = await done(service.POST("/api/teams/me/transfer-ownership", transfer));
  console.log(`team: ${team.members.map(({ name, role }) => `${name}: ${role}`).join(", ")}`);
}

async function lookAround({ service }: Person) {
  const { flags } = await done(service.GET("/api/flags"));
  const query = { locale: "en" };
  const entries = await done(visitor.GET("/api/cms", { params: { query } }));
  const slugs = entries.map(({ slug }) => slug);
  console.log(`${Object.keys(flags).length} flags, entries: ${slugs.join(", ")}`);
}

/** All tokens are void from the next request on. */
async function signOut({ service }: Person) {
  await done(service.POST("/api/auth/logout"));
  const stale = await service.GET("/api/auth/me");
  assert(stale.error);
  console.log(`${stale.response.status} ${stale.error.code}`);
}

const [alices = "", bobs = ""] = process.argv.slice(2);
const [alice, bob] = [await signUp(alices, "Alice"), await signUp(bobs, "Bob")];
const { service } = alice;
await meetRefusals(alice);
await pay(alice);

const question = { prompt: QUESTION, models: [MODEL, OTHER_MODEL] };
const council = await done(service.POST("/api/council/sessions", { body: question }));
const goal = { prompt: "Plan a small web shop for tea.", budget_usd: 5 };
const run = await done(service.POST("/api/project/sessions", { body: goal }));
const wish = { model: await pictureModel(alice), prompt: "A lighthouse at dusk.", n: 2 };
const order = await done(service.POST("/api/images", { body: wish }));

await lookAround(alice);
await shareATeam(alice, bob);
const costs = {
  key: await callWithAKey(alice),
  conversation: await talk(alice),
  council: await merge(alice, council),
  pictures: await takeThePictures(alice, order),
  run: await takeTheResult(alice, run),
};
await readTheBill(alice, costs);
await exportTheData(alice);
await signOut(alice);
input.close();
