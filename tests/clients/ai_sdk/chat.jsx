// A page that holds a conversation with the Vercel AI SDK's `useChat`, and is loaded again in the
// middle of a reply. What it saw it hands to the server it came from, where it also learns whom to
// call, as whom, and what to say.

import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const { baseURL, token, conversation, content } = await (await fetch("/task")).json();
const conversations = `${baseURL}/api/conversations`;
const headers = { Authorization: `Bearer ${token}` };
const LOADED_AGAIN = sessionStorage.getItem("before") !== null;

const transport = new DefaultChatTransport({
  api: conversations,
  headers,
  prepareSendMessagesRequest: ({ id, messages, messageId, trigger, headers }) =>
    trigger === "regenerate-message"
      ? { api: `${conversations}/${id}/messages/${messageId}/regenerate`, headers, body: {} }
      : {
          api: `${conversations}/${id}/messages`,
          headers,
          body: { content: messages.at(-1).parts[0].text },
        },
});

const textOf = (message, type = "text") =>
  message.parts.map((part) => (part.type === type ? part.text : "")).join("");

/** The conversation as the service keeps it. */
async function detail() {
  return (await fetch(`${conversations}/${conversation}`, { headers })).json();
}

/** Its messages as the SDK wants them; a reply that runs is left to the stream. */
async function history() {
  const { messages } = await detail();
  return messages
    .filter(({ status }) => status !== "running")
    .map(({ id, role, content: text }) => ({ id, role, parts: [{ type: "text", text }] }));
}

/** What a reader by hand gets of a reply after an offset, of another origin: [[id, part], ...]. */
async function tail(messageId, offset) {
  const response = await fetch(`${conversations}/${conversation}/messages/${messageId}/stream`, {
    headers: { ...headers, "Last-Event-ID": `${offset}` },
  });
  const frames = [];
  for (const frame of (await response.text()).split("\n\n")) {
    const id = /^id: (.*)$/m.exec(frame)?.[1];
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data && data !== "[DONE]") frames.push([Number(id), JSON.parse(data)]);
  }
  return frames;
}

async function report(seen) {
  await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
}

/** How long the text of the last reply was whenever it was drawn. */
const growth = [];
let following;

function Chat({ messages: initial }) {
  const [title, setTitle] = useState("");
  const [ended, setEnded] = useState([]);
  const { messages, status, error, sendMessage, regenerate } = useChat({
    id: conversation,
    messages: initial,
    transport,
    resume: LOADED_AGAIN,
    onData: ({ type, data }) => type === "data-title" && setTitle(data.title),
    onFinish: ({ message }) => setEnded((ended) => [...ended, message]),
  });

  useEffect(() => {
    if (!LOADED_AGAIN) sendMessage({ text: content });
  }, []);

  useEffect(() => {
    const last = messages.at(-1);
    if (last?.role !== "assistant") return;
    growth.push(textOf(last).length);
    if (!LOADED_AGAIN && textOf(last)) {
      sessionStorage.setItem("before", JSON.stringify(last));
      location.reload();
    } else if (LOADED_AGAIN && textOf(last)) {
      following ??= tail(last.id, 10);
    }
  }, [messages]);

  useEffect(() => {
    if (error) report({ error: `${error}` });
    else if (ended.length === 1) regenerate({ messageId: ended[0].id });
    else if (ended.length === 2) finish(ended, title);
  }, [ended, error]);

  return (
    <>
      <h1>{title || "A conversation"}</h1>
      {messages.map((message) => (
        <article key={message.id}>
          {message.role}: {textOf(message)}
        </article>
      ))}
      <p>{status}</p>
    </>
  );
}

async function finish([resumed, again], title) {
  const before = JSON.parse(sessionStorage.getItem("before"));
  const shown = [...document.querySelectorAll("article")].map((article) => article.textContent);
  const tail = await following;
  await report({ before, resumed, again, title, growth, shown, tail, detail: await detail() });
}

const messages = LOADED_AGAIN ? await history() : [];
createRoot(document.getElementById("chat")).render(<Chat messages={messages} />);
