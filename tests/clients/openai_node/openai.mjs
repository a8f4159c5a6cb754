// Calls the service with the unmodified openai-node client, and prints what it saw as JSON.
// Usage: BASE_URL=... API_KEY=... MARKER=... node openai.mjs NAME, where NAME is one of the functions
// below. The simulator notes each call under the marker.

import OpenAI from "openai";

const model = "gpt-6-luna"; // answered by the simulator
const embeddingModel = "text-embedding-3-small";
const imageModel = "gpt-image-2.5-flare";
const unavailableModel = "mistral-medium-3.5"; // its provider is not configured in tests

const client = new OpenAI({
  baseURL: process.env.BASE_URL,
  apiKey: process.env.API_KEY,
  maxRetries: 0,
});

/** A text that tells the simulator what to do. */
function steered(text, steering = {}) {
  return `${text}\n@sim ${JSON.stringify({ marker: process.env.MARKER, ...steering })}`;
}

/** A request for an answer of `steering`. */
function request(steering, fields = {}) {
  const content = steered("What is the capital of France?", steering);
  return { model, messages: [{ role: "user", content }], ...fields };
}

/** What a failed call told us; the call must fail. */
async function failure(call) {
  try {
    await call();
  } catch (error) {
    const { status, code, requestID } = error;
    return { kind: error.constructor.name, status, code, requestID };
  }
  throw new Error("The call should have failed.");
}

const cases = {
  async answer() {
    const answer = await client.chat.completions.create(request({ tokens: 7 }));
    const [{ message, finish_reason }] = answer.choices;
    return { text: message.content, finish_reason, usage: answer.usage, id: answer._request_id };
  },

  async stream() {
    const stream = await client.chat.completions.create(request({ tokens: 7 }, { stream: true }));
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const last = chunks.at(-1);
    return {
      text: chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join(""),
      finish_reason: last.choices[0].finish_reason,
      usage: last.usage,
      earlier_usages: chunks.slice(0, -1).filter((chunk) => chunk.usage).length,
    };
  },

  async streamHelper() {
    const stream = client.chat.completions.stream(request({ tokens: 7 }));
    let text = "";
    stream.on("content", (delta) => (text += delta));
    const answer = await stream.finalChatCompletion();
    const [{ message, finish_reason }] = answer.choices;
    return { text, whole: message.content, finish_reason, usage: answer.usage };
  },

  async brokenStream() {
    let text = "";
    const fields = { stream: true };
    const stream = await client.chat.completions.create(
      request({ text: "one ".repeat(9), fail: "after", after_tokens: 3 }, fields),
    );
    const error = await failure(async () => {
      for await (const chunk of stream) text += chunk.choices[0].delta.content ?? "";
    });
    return { text, code: error.code };
  },

  async embeddings() {
    const request = { model: embeddingModel, input: [steered("cats"), steered("dogs")] };
    const byDefault = await client.embeddings.create(request);
    const floats = await client.embeddings.create({ ...request, encoding_format: "float" });
    const vectors = ({ data }) => data.map(({ embedding }) => Array.from(embedding));
    return { byDefault: vectors(byDefault), floats: vectors(floats), usage: floats.usage };
  },

  async image() {
    const prompt = steered("A red boat.");
    const { data, usage } = await client.images.generate({ model: imageModel, prompt });
    const picture = await fetch(data[0].url);
    return { type: picture.headers.get("content-type"), billed_usd: usage.billed_usd };
  },

  async models() {
    const ids = [];
    for await (const listed of client.models.list()) ids.push(listed.id);
    return { ids, retrieved: await client.models.retrieve(model) };
  },

  async errors() {
    const { completions } = client.chat;
    const stranger = client.withOptions({ apiKey: `mk_${"0".repeat(44)}` });
    return {
      invalid_messages: await failure(() => completions.create({ model, messages: [] })),
      invalid_api_key: await failure(() => stranger.chat.completions.create(request({}))),
      model_not_found: await failure(() => client.models.retrieve("dall-e-2")),
      upstream_error: await failure(() =>
        completions.create(request({ fail: "before", status: 500 })),
      ),
      provider_unavailable: await failure(() =>
        completions.create(request({}, { model: unavailableModel })),
      ),
    };
  },
};

console.log(JSON.stringify(await cases[process.argv[2]]()));
