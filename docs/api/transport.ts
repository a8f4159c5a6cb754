/**
 * The service's conversations for the AI SDK, version 6: `useChat({ id, transport })`.
 *
 * Copy this file into your project. It needs the package `ai` and nothing else.
 */
import { DefaultChatTransport, generateId } from "ai";
import type { ChatTransport, FileUIPart, UIMessage, UIMessageChunk } from "ai";

/** What a reply has used; amounts are US dollars. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cached_tokens: number;
  total_tokens: number;
  cost_usd: number;
  plan_usd: number | null;
  balance_usd: number | null;
}

/** `metadata` of a reply; `usage` is null where nothing was billed. */
export interface Metadata {
  model?: string | null;
  status?: "running" | "completed" | "failed" | "cancelled";
  usage?: Usage | null;
}

export type Message = UIMessage<Metadata, { title: { title: string } }>;

/** The service refuses something: `code` is for programs, `message` for people. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    /** All that the answer says, such as `needed_usd` of a 402. */
    readonly fields: Record<string, unknown>,
  ) {
    super(detail);
    this.name = "Refusal";
  }
}

export interface Options {
  /** Of the service, such as `https://example.com`. */
  baseURL: string;
  /** The access token for the next request. */
  token: () => string | Promise<string>;
  /** The body of `POST /api/conversations`, for chats whose id is not that of a conversation. */
  conversation?: Record<string, unknown>;
  /** Such a chat has its conversation now. */
  onBegun?: (conversationId: string, chatId: string) => void;
  /** A stop has not arrived: the reply is written to its end. */
  onStopFailed?: (error: unknown) => void;
}

type Sending = Parameters<ChatTransport<Message>["sendMessages"]>[0];
type Resuming = Parameters<ChatTransport<Message>["reconnectToStream"]>[0];
type Chunks = ReadableStream<UIMessageChunk>;
interface Stored {
  id: string;
  role: "user" | "assistant";
  content: string;
  reasoning: string | null;
  model: string | null;
  status: NonNullable<Metadata["status"]>;
  usage: Usage | null;
  attachments: { id: string; name: string; mime: string; url: string }[];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class ConversationTransport implements ChatTransport<Message> {
  readonly #options: Options;
  /** By chat. */
  readonly #conversations = new Map<string, Promise<string>>();
  /** The SDK keeps the id of a message that is edited, for which the service has a new message. */
  readonly #edited = new Map<string, string>();
  /** Ids of uploads by the URLs of files. */
  readonly #uploads = new Map<string, Promise<string>>();
  #stopping: Promise<unknown> = Promise.resolve();
  #resumed = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The newest messages of the branch that is shown. A reply that is being written comes by
   * `resume`. */
  async load(conversationId: string): Promise<Message[]> {
    const path = `/api/conversations/${conversationId}/messages?branch=active`;
    const page = (await this.#ask(path)) as Stored[];
    const ended = page.filter(({ status }) => status !== "running");
    return ended.reverse().map((stored) => this.#shown(stored));
  }

  async sendMessages({ abortSignal, ...options }: Sending): Promise<Chunks> {
    const stopped = this.#stopped(abortSignal);
    await this.#stopping; // one reply at a time is written in a conversation
    const conversation = await this.#conversation(options.chatId);
    const chunks = await this.#sent(conversation, options, abortSignal);
    return this.#stoppable(chunks, conversation, abortSignal, stopped);
  }

  async reconnectToStream({ abortSignal, ...options }: Resuming): Promise<Chunks | null> {
    this.#resumed++;
    const stopped = this.#stopped(abortSignal);
    const begun = this.#conversations.get(options.chatId);
    if (begun === undefined && !UUID.test(options.chatId)) return null;
    const conversation = await (begun ?? options.chatId);
    const api = `${this.#options.baseURL}/api/conversations/${conversation}/stream`;
    const chunks = await new DefaultChatTransport<Message>({
      fetch: (url, init) => this.#fetch(url, init),
      prepareReconnectToStreamRequest: () => ({ api }),
    }).reconnectToStream(options);
    return chunks && this.#stoppable(chunks, conversation, abortSignal, stopped);
  }

  /** A message, an edited one too, follows the answer that stands before it on the screen. */
  async #sent(conversation: string, options: Omit<Sending, "abortSignal">, signal?: AbortSignal) {
    const { trigger, messageId, messages } = options;
    const asked = messages.at(-1)!;
    if (trigger === "regenerate-message") {
      const id = messageId ?? asked.id;
      const path = `${conversation}/messages/${this.#edited.get(id) ?? id}/regenerate`;
      try {
        return await this.#streamed(path, {}, options);
      } catch (error) {
        // A message that was refused is not there: it is sent again.
        const isUnsent = error instanceof Refusal && error.status === 404 && id === asked.id;
        if (!isUnsent) throw error;
      }
    } else if (messageId !== undefined) {
      this.#edited.set(messageId, generateId());
    }
    const files = asked.parts.filter((part) => part.type === "file");
    const body = {
      id: this.#edited.get(asked.id) ?? asked.id,
      content: asked.parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
      upload_ids: await Promise.all(files.map((file) => this.#upload(file))),
      parent_id: messages.findLast(({ role }) => role === "assistant")?.id ?? null,
    };
    signal?.throwIfAborted();
    return this.#streamed(`${conversation}/messages`, body, options);
  }

  async #streamed(path: string, body: object, options: Omit<Sending, "abortSignal">) {
    return new DefaultChatTransport<Message>({
      api: `${this.#options.baseURL}/api/conversations/${path}`,
      fetch: (url, init) => this.#fetch(url, init),
      prepareSendMessagesRequest: () => ({ body: { ...body, ...options.body } }),
    }).sendMessages({ ...options, abortSignal: undefined });
  }

  /** Resolves when `signal` is aborted: true for a stop. React may resume twice, and the SDK aborts
   * the first attempt as the second one begins: false. */
  #stopped(signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const aborted = async () => {
        const before = this.#resumed;
        await null;
        resolve(before === this.#resumed);
      };
      signal?.addEventListener("abort", aborted, { once: true });
    });
  }

  /** The chunks, until the reply is `stopped`, which then is written no further. */
  #stoppable(
    chunks: Chunks,
    conversation: string,
    signal: AbortSignal | undefined,
    stopped: Promise<boolean>,
  ): Chunks {
    const reader = chunks.getReader();
    let replyId: string | undefined;
    const next = async () => {
      const chunk = await reader.read();
      if (chunk.value?.type === "start") replyId = chunk.value.messageId;
      return chunk;
    };
    const stop = async () => {
      while (replyId === undefined && !(await next()).done);
      const path = `/api/conversations/${conversation}/messages/${replyId}/stop`;
      if (replyId !== undefined) await this.#ask(path, { method: "POST" });
      while (!(await next()).done); // its end comes in a moment
    };
    return new ReadableStream({
      start: (controller) => {
        void stopped.then((isMeant) => {
          controller.error(signal?.reason);
          if (!isMeant) return reader.cancel();
          this.#stopping = stop().catch((error) => this.#options.onStopFailed?.(error));
        });
      },
      pull: async (controller) => {
        const { done, value } = await next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async (reason) => {
        if (!signal?.aborted) await reader.cancel(reason);
      },
    });
  }

  /** The id of the chat's conversation, which is begun with its first message. */
  #conversation(chatId: string): Promise<string> {
    if (UUID.test(chatId)) return Promise.resolve(chatId);
    return once(this.#conversations, chatId, async () => {
      const body = JSON.stringify(this.#options.conversation ?? {});
      const headers = { "Content-Type": "application/json" };
      const request = { method: "POST", headers, body };
      const { id } = (await this.#ask("/api/conversations", request)) as { id: string };
      this.#options.onBegun?.(id, chatId);
      return id;
    });
  }

  #upload(file: FileUIPart): Promise<string> {
    return once(this.#uploads, file.url, async () => {
      const body = new FormData();
      body.append("file", await (await fetch(file.url)).blob(), file.filename ?? "file");
      const { id } = (await this.#ask("/api/uploads", { method: "POST", body })) as { id: string };
      return id;
    });
  }

  #shown({ id, role, content, reasoning, attachments, model, status, usage }: Stored): Message {
    const parts: Message["parts"] = attachments.map(({ id: upload, name, mime, url }) => {
      this.#uploads.set(url, Promise.resolve(upload));
      return { type: "file", filename: name, mediaType: mime, url };
    });
    if (reasoning) parts.push({ type: "reasoning", text: reasoning });
    if (content) parts.push({ type: "text", text: content });
    const metadata = role === "assistant" ? { model, status, usage } : undefined;
    return { id, role, parts, metadata };
  }

  async #ask(path: string, request: RequestInit = {}): Promise<unknown> {
    const answer = await this.#fetch(this.#options.baseURL + path, request);
    return answer.json();
  }

  async #fetch(url: RequestInfo | URL, request: RequestInit = {}): Promise<Response> {
    const headers = new Headers(request.headers);
    headers.set("Authorization", `Bearer ${await this.#options.token()}`);
    const answer = await fetch(url, { ...request, headers });
    if (answer.ok) return answer;
    const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    // Of a 402 the detail is an object, with all that the others have beside it.
    const fields = (typeof body.detail === "object" ? body.detail : body) as typeof body;
    const { code = "unknown", message = body.detail ?? answer.statusText } = fields;
    throw new Refusal(answer.status, String(code), String(message), fields);
  }
}

/** The value of a key, made where there is none. What could not be made is made at the next time. */
function once<V>(values: Map<string, Promise<V>>, key: string, make: () => Promise<V>): Promise<V> {
  let value = values.get(key);
  if (value === undefined) {
    value = make();
    values.set(key, value);
    value.catch(() => values.delete(key));
  }
  return value;
}
