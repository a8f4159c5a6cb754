// Hold a conversation with the Vercel AI SDK's own transport, without a user interface.
//
// Usage: BASE_URL=... TOKEN=... CONVERSATION=... node conversation.mjs NAME MESSAGE, where NAME is one
// of the functions below. Prints what was seen as JSON.

import { DefaultChatTransport, readUIMessageStream } from "ai";

const { BASE_URL, TOKEN, CONVERSATION: chatId } = process.env;
const [name, content] = process.argv.slice(2);
const conversations = `${BASE_URL}/api/conversations`;
const headers = { Authorization: `Bearer ${TOKEN}` };

// The SDK would send the whole conversation; the service knows it. Where to resume, the SDK guesses
// right by itself: at `{api}/{chatId}/stream`.
const transport = new DefaultChatTransport({
  api: conversations,
  headers,
  prepareSendMessagesRequest: ({ id, messages, headers }) => ({
    api: `${conversations}/${id}/messages`,
    headers,
    body: { content: messages.at(-1).parts[0].text },
  }),
});

function sent(abortSignal) {
  const message = { id: "1", role: "user", parts: [{ type: "text", text: content }] };
  return transport.sendMessages({
    trigger: "submit-message",
    chatId,
    messages: [message],
    abortSignal,
  });
}

const textOf = ({ parts }) =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** Every state of the message as it grows; `each` sees them as they come. */
async function read(stream, each = () => {}) {
  const seen = { growth: [], errors: [], message: null };
  const onError = (error) => seen.errors.push(error.message);
  for await (const message of readUIMessageStream({ stream, onError })) {
    seen.message = message;
    seen.growth.push(textOf(message).length);
    await each(message);
  }
  return seen;
}

const cases = {
  async shown() {
    return read(await sent());
  },

  async refused() {
    try {
      await sent();
    } catch (error) {
      return JSON.parse(error.message);
    }
    throw new Error("The message should have been refused.");
  },

  async stopped() {
    let answer;
    const seen = await read(await sent(), async (message) => {
      if (answer || !textOf(message)) return;
      const url = `${conversations}/${chatId}/messages/${message.id}/stop`;
      answer = await fetch(url, { method: "POST", headers });
    });
    return { ...seen, status: answer.status };
  },

  /** Goes away in the middle, comes back, and finds nothing to come back to at the end. */
  async resumed() {
    const connection = new AbortController();
    const before = await read(await sent(connection.signal), (message) => {
      if (textOf(message)) connection.abort();
    });
    const after = await read(await transport.reconnectToStream({ chatId }));
    return { before, after, nothing: await transport.reconnectToStream({ chatId }) };
  },
};

console.log(JSON.stringify(await cases[name]()));
