// A page with the `Chat` of docs/api/chat.md, and somebody who uses it: who types, clicks, waits, and
// loads the page again. What was seen is handed to the server that the page came from, where it also
// learns whom to call, as whom, and what to say.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat";
import { ConversationTransport } from "./transport";

const task = await (await fetch("/task")).json();
const store = sessionStorage;
const transport = new ConversationTransport({
  baseURL: task.baseURL,
  token: () => task.token,
  conversation: { model: task.model },
  onBegun: (id) => store.setItem("conversation", id),
});

const one = (selector: string) => document.querySelector<HTMLElement>(selector)!;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const shown = () => all("article").map((article) => article.querySelector("p")?.textContent ?? "");
const isReady = () => ["ready", "error"].includes(one("output").textContent!);

async function until(what: () => unknown): Promise<void> {
  while (!what()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function click(label: string, within = document.body): void {
  [...within.querySelectorAll("button")].find((each) => each.textContent === label)!.click();
}

/** Types a message, and sends it. */
async function send(text: string, ...files: File[]): Promise<void> {
  const words = one("form textarea") as HTMLTextAreaElement;
  const list = one("form input") as HTMLInputElement;
  const chosen = new DataTransfer();
  files.forEach((file) => chosen.items.add(file));
  words.value = text;
  list.files = chosen.files;
  click("Send");
  click("Send"); // as an impatient hand does
  await until(() => !isReady() || one("strong"));
}

/** What is on the screen when the reply has ended. */
async function ended(): Promise<string[]> {
  await until(isReady);
  return shown();
}

/** What is done on the page, as far as it has not been `seen` before the page was loaded again. */
function used(seen: Record<string, unknown>): Promise<void> {
  if ("stoppedAgain" in seen) return afterStop(seen);
  return "left" in seen ? afterReload(seen) : beforeReload(seen);
}

async function beforeReload(seen: Record<string, unknown>): Promise<void> {
  await send(task.first, new File(["The sea is green."], "sea.txt", { type: "text/plain" }));
  seen.sent = await ended();
  seen.title = one("h1").textContent;
  seen.cost = one("small").textContent;
  click("Edit", one("article.user"));
  await until(() => one("form textarea[placeholder='Other words']"));
  await send(task.edited);
  seen.edited = await ended();
  click("Try again");
  await until(() => !isReady());
  seen.again = await ended();
  click("Another answer", one("article.assistant"));
  await until(() => !isReady());
  seen.another = await ended();
  await send(task.long);
  await until(() => shown().length === 4 && shown()[3]);
  click("Stop");
  await until(() => all("article")[3]!.querySelector("small")); // as it is stored, with its cost
  seen.stopped = await ended();
  await send(task.failing);
  seen.failed = await ended();
  seen.error = one("strong").textContent;
  await send(task.long);
  await until(() => shown().length === 8 && shown()[7]);
  seen.left = shown();
  reload(seen);
}

async function afterReload(seen: Record<string, unknown>): Promise<void> {
  await until(() => shown().length === 8 && shown()[7]);
  seen.resumed = shown();
  click("Stop");
  seen.stoppedAgain = await ended();
  reload(seen);
}

/** The page was left before the service had answered the stop. */
async function afterStop(seen: Record<string, unknown>): Promise<void> {
  while ((await transport.load(id)).length < 8) await new Promise((go) => setTimeout(go, 200));
  await report({ ...seen, conversation: id });
}

function reload(seen: Record<string, unknown>): void {
  store.setItem("seen", JSON.stringify(seen));
  location.reload();
}

async function report(seen: object): Promise<void> {
  await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
}

const told = store.getItem("seen");
const id = told === null ? "a chat that is new" : store.getItem("conversation")!;
const messages = told === null ? [] : await transport.load(id);
createRoot(one("#chat")).render(
  <StrictMode>
    <Chat id={id} messages={messages} transport={transport} />
  </StrictMode>,
);
await until(() => one("form"));
const using = used(told === null ? {} : JSON.parse(told));
await using.catch((error) => report({ problem: `${error}`, shown: shown() }));
