// The page's program: calls the service, which is of another origin, shows what the page may read of
// the answers, and hands that to the server it came from. There it also learns whom to call, as whom
// and what to ask.

import OpenAI from "openai";

const { baseURL, apiKey, poorKey, question } = await (await fetch("/task")).json();
const model = "gpt-6-luna"; // answered by the simulator
const balanceOnly = "kimi-k3"; // nothing of it is in a plan
const messages = [{ role: "user", content: question }];

function clientOf(apiKey) {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0, dangerouslyAllowBrowser: true });
}

const client = clientOf(apiKey);
document.getElementById("origin").textContent = `${location.origin} calls ${baseURL}`;

/** What an answer's headers tell the page. */
function headersOf(headers) {
  const names = ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}

/** What a failed call tells the page; the call must fail. */
async function failure(call) {
  try {
    await call();
  } catch ({ status, code, headers }) {
    return { status, code, headers: headers && headersOf(headers) };
  }
  throw new Error("The call should have failed.");
}

async function stream() {
  const call = client.chat.completions.create({ model, messages, stream: true });
  const { data, response } = await call.withResponse();
  const shown = document.getElementById("answer");
  let usage;
  for await (const chunk of data) {
    shown.textContent += chunk.choices[0].delta.content ?? "";
    usage = chunk.usage ?? usage;
  }
  return { text: shown.textContent, usage, headers: headersOf(response.headers) };
}

async function streamHelper() {
  const answer = await client.chat.completions.stream({ model, messages }).finalChatCompletion();
  return answer.choices[0].message.content;
}

async function models() {
  const ids = [];
  for await (const listed of client.models.list()) ids.push(listed.id);
  return ids;
}

async function callsUntilRefused() {
  for (let calls = 0; calls < 200; calls++) await client.models.retrieve(model);
}

async function report(seen) {
  document.getElementById("seen").textContent = JSON.stringify(seen, null, 2);
  await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
}

const stranger = clientOf(`mk_${"0".repeat(44)}`);
const poor = clientOf(poorKey);
try {
  await report({
    stream: await stream(),
    streamHelper: await streamHelper(),
    models: await models(),
    unknownKey: await failure(() => stranger.models.list()),
    noMoney: await failure(() =>
      poor.chat.completions.create({ model: balanceOnly, messages }),
    ),
    unknownPath: await failure(() => client.responses.create({ model, input: question })),
    tooOften: await failure(callsUntilRefused),
  });
} catch (error) {
  await report({ error: `${error}` });
}
