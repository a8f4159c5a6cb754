// Hold a conversation as a front end does: with the AI SDK's `Chat`, which `useChat` is made of, and
// the transport of docs/api/transport.ts.
//
// Usage: BASE_URL=... TOKEN=... node front_end.js NAME [CONTENT...], where NAME is one of the
// functions below. Prints what was seen as JSON.

import { Chat } from "@ai-sdk/react";
import { ConversationTransport, Refusal, type Message } from "./transport";

declare const process: { env: Record<string, string | undefined>; argv: string[] };

const { BASE_URL = "", TOKEN = "", MODEL = "" } = process.env;
const [name = "", ...contents] = process.argv.slice(2);
const [first = "", second = "", third = ""] = contents;
const begun: string[] = [];
const failures: string[] = [];
let requests = 0;

const transport = new ConversationTransport({
  baseURL: BASE_URL,
  token: () => {
    requests++;
    return TOKEN;
  },
  conversation: { model: MODEL },
  onBegun: (id) => begun.push(id),
  onStopFailed: (error) => failures.push(`${error}`),
});

function opened(id: string, messages: Message[] = []): Chat<Message> {
  return new Chat<Message>({ id, messages, transport });
}

const textOf = (message: Message | undefined) =>
  (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Until something has come of the last reply. */
async function written(chat: Chat<Message>): Promise<void> {
  while (chat.lastMessage?.role !== "assistant" || !textOf(chat.lastMessage)) {
    await soon();
    if (chat.error) throw chat.error;
  }
}

/** As the component of the documents does. */
async function stop(chat: Chat<Message>): Promise<void> {
  await chat.stop();
  const update = await transport.stopped(chat.id);
  chat.messages = update(chat.messages);
}

/** As it is now. */
const shown = (chat: Chat<Message>) => structuredClone(chat.messages);

const cases: Record<string, () => Promise<object>> = {
  async edited() {
    const chat = opened("a chat that is new");
    await chat.sendMessage({ text: first });
    const before = shown(chat);
    await chat.sendMessage({ text: second, messageId: before[0]!.id });
    const edited = shown(chat);
    await chat.regenerate();
    const again = shown(chat);
    await chat.sendMessage({ text: third, messageId: before[0]!.id });
    return { before, edited, again, twice: shown(chat) };
  },

  /** In a conversation that was loaded, where messages have the service's own ids. */
  async loaded() {
    await opened("new").sendMessage({ text: first });
    const chat = opened(begun[0]!, await transport.load(begun[0]!));
    const before = shown(chat);
    await chat.sendMessage({ text: second, messageId: before[0]!.id });
    const edited = shown(chat);
    await chat.regenerate();
    return { before, edited, again: shown(chat), loaded: await transport.load(begun[0]!) };
  },

  async regenerated() {
    const chat = opened("new");
    await chat.sendMessage({ text: first }, { body: { model: "claude-haiku-5-5" } });
    const one = shown(chat);
    await chat.regenerate();
    const two = shown(chat);
    await chat.regenerate({ messageId: chat.lastMessage!.id });
    const three = shown(chat);
    await chat.regenerate({ messageId: chat.messages[0]!.id });
    return { one, two, three, four: shown(chat) };
  },

  /** And goes on at once. */
  async stopped() {
    const chat = opened("new");
    const sent = chat.sendMessage({ text: first });
    await written(chat);
    await stop(chat);
    await sent;
    const stopped = shown(chat);
    await chat.sendMessage({ text: second });
    return { stopped, after: shown(chat), error: `${chat.error}` };
  },

  /** And once more, when nothing runs: with another branch shown, and after the next answer. */
  async stoppedWhileNothingRuns() {
    const chat = opened("new");
    const stopped = async (stop: () => Promise<void>) => {
      const sent = chat.sendMessage({ text: first });
      await written(chat);
      await stop();
      await sent;
    };
    await stopped(() => stop(chat));
    chat.messages = [];
    await stop(chat);
    const branch = shown(chat);
    await stopped(() => chat.stop());
    await chat.sendMessage({ text: second, messageId: chat.messages[0]!.id });
    const answered = shown(chat);
    await stop(chat);
    return { branch, answered, after: shown(chat) };
  },

  /** When it was sent, and not even the head of the answer has come. */
  async stoppedEarly() {
    const chat = opened("new");
    await chat.sendMessage({ text: second });
    const before = requests;
    const sent = chat.sendMessage({ text: first });
    while (requests === before) await null;
    await soon();
    await stop(chat);
    await sent;
    await chat.sendMessage({ text: second });
    return { after: shown(chat), error: `${chat.error}` };
  },

  async stoppedAtOnce() {
    const chat = opened("new");
    await chat.sendMessage({ text: second });
    const sent = chat.sendMessage({ text: first });
    while (chat.status !== "submitted") await null;
    await chat.stop();
    await sent;
    await chat.sendMessage({ text: second });
    return { after: shown(chat) };
  },

  /** While the token for another answer is waited for. */
  async regenerationStopped() {
    const chat = opened("new");
    await chat.sendMessage({ text: first });
    const before = requests;
    const sent = chat.regenerate();
    while (requests === before) await null;
    await chat.stop();
    await sent;
    return { after: shown(chat), error: `${chat.error}` };
  },

  /** And said something else without waiting for the stop. */
  async stoppedAndSent() {
    const chat = opened("new");
    await chat.sendMessage({ text: second });
    const before = requests;
    const sent = chat.sendMessage({ text: first });
    while (requests === before) await null;
    await soon();
    const stopped = stop(chat);
    await Promise.all([sent, stopped, chat.sendMessage({ text: second })]);
    return { after: shown(chat), error: `${chat.error}` };
  },

  /** The oldest message that was loaded of a long conversation. */
  async longAndEdited() {
    const chat = opened(second, await transport.load(second));
    begun.push(second);
    const before = shown(chat);
    await chat.sendMessage({ text: first, messageId: before[0]!.id });
    return { before, edited: shown(chat) };
  },

  /** What was edited, by the id that the transport tells. */
  async editedAndDeleted() {
    const chat = opened("new");
    await chat.sendMessage({ text: first });
    const [asked] = chat.messages;
    await chat.sendMessage({ text: second, messageId: asked!.id });
    const path = `/api/conversations/${begun[0]}/messages/${transport.idOf(asked!)}`;
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const { status } = await fetch(BASE_URL + path, { method: "DELETE", headers });
    return { status };
  },

  /** By a page that was loaded again, twice, as React does; and stopped there. */
  async resumed() {
    const left = opened("new");
    void left.sendMessage({ text: first });
    await written(left);
    const chat = opened(begun[0]!, await transport.load(begun[0]!));
    const loaded = shown(chat);
    const attempts = [chat.resumeStream(), chat.resumeStream()];
    await written(chat);
    const other = opened(begun[0]!, await transport.load(begun[0]!));
    const followed = other.resumeStream();
    await stop(chat);
    await Promise.all([...attempts, followed]);
    return { loaded, resumed: shown(chat), followed: shown(other) };
  },

  async withFiles() {
    const chat = opened("new");
    const url = `data:text/plain;base64,${btoa("The sea is green.")}`;
    const file = { type: "file", mediaType: "text/plain", filename: "sea.txt", url } as const;
    await chat.sendMessage({ text: first, files: [file] });
    await chat.sendMessage({ text: second, files: [file], messageId: chat.messages[0]!.id });
    const page = opened(begun[0]!, await transport.load(begun[0]!));
    const [asked] = page.messages;
    const files = asked!.parts.filter((part) => part.type === "file");
    await page.sendMessage({ text: third, files, messageId: asked!.id });
    return { loaded: await transport.load(begun[0]!) };
  },

  /** And tried again when nothing stands in its way any more. */
  async refused() {
    const chat = opened("new");
    await chat.sendMessage({ text: first }, { body: JSON.parse(second) });
    if (!(chat.error instanceof Refusal)) throw new Error(`No refusal: ${chat.error}`);
    const { status, code, message, fields } = chat.error;
    const before = shown(chat);
    await chat.regenerate();
    return { refusal: { status, code, message, fields }, before, after: shown(chat) };
  },

  async failed() {
    const chat = opened("new");
    await chat.sendMessage({ text: first });
    const [error, broken] = [`${chat.error?.message}`, shown(chat)];
    await chat.regenerate();
    return { error, broken, after: shown(chat) };
  },
};

const seen = await cases[name]!();
console.log(JSON.stringify({ ...seen, begun, failures }));
