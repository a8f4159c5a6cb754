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
  listed_usd: number;
  paid_by_plan_usd: number | null;
  paid_by_balance_usd: number | null;
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
type Update = (shown: Message[]) => Message[];
interface Opened {
  conversation: string;
  /** Null where nothing runs. */
  chunks: Chunks | null;
}
interface Stored {
  id: string;
  parent_id: string | null;
  role: "user" | "assistant";
  content: string;
  reasoning: string | null;
  model: string | null;
  status: NonNullable<Metadata["status"]>;
  usage: Usage | null;
  attachments: { id: string; name: string; mime: string; url: string }[];
}

const unchanged: Update = (shown) => shown;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export class ConversationTransport implements ChatTransport<Message> {
  readonly #options: Options;
  /** By chat. */
  readonly #conversations = new Map<string, Promise<string>>();
  /** The SDK keeps the id of a message that is edited, for which the service has a new message. */
  readonly #edited = new Map<string, string>();
  /** What the messages that were loaded follow, by their ids. */
  readonly #parents = new Map<string, string | null>();
  /** Ids of uploads by the URLs of files. */
  readonly #uploads = new Map<string, Promise<string>>();
  #stopping: Promise<unknown> = Promise.resolve();
  /** By chat: what the reply that was stopped last is, when it has ended. Once, and not after the
   * next message. */
  readonly #stops = new Map<string, Promise<Update>>();
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

  /** The id by which the service knows a message of the screen: another one once it was edited. */
  idOf(message: Pick<Message, "id">): string {
    return this.#edited.get(message.id) ?? message.id;
  }

  /** For `setMessages`, after `stop()`: shows the reply as it is stored and billed. The SDK shows
   * nothing of what was on its way. */
  async stopped(chatId: string): Promise<Update> {
    const stop = this.#stops.get(chatId);
    this.#stops.delete(chatId);
    return (await stop) ?? unchanged;
  }

  async sendMessages({ abortSignal, ...options }: Sending): Promise<Chunks> {
    const before = this.#stopping; // one reply at a time is written in a conversation
    const stop = this.#stops.get(options.chatId);
    const send = async () => {
      await before;
      if (this.#stops.get(options.chatId) === stop) this.#stops.delete(options.chatId);
      const conversation = await this.#conversation(options.chatId);
      return { conversation, chunks: await this.#sent(conversation, options, abortSignal) };
    };
    const asked = options.messages.at(-1)!;
    return (await this.#stoppable(send(), options.chatId, asked, abortSignal))!;
  }

  async reconnectToStream({ abortSignal, ...options }: Resuming): Promise<Chunks | null> {
    this.#resumed++;
    const begun = this.#conversations.get(options.chatId);
    if (begun === undefined && !UUID.test(options.chatId)) return null;
    const resume = async () => {
      const conversation = await (begun ?? options.chatId);
      const api = `${this.#options.baseURL}/api/conversations/${conversation}/stream`;
      const chunks = await new DefaultChatTransport<Message>({
        fetch: (url, init) => this.#fetch(url, init),
        prepareReconnectToStreamRequest: () => ({ api }),
      }).reconnectToStream(options);
      return { conversation, chunks };
    };
    return this.#stoppable(resume(), options.chatId, undefined, abortSignal);
  }

  /** A message follows the answer that stands before it on the screen. An edited one that was
   * loaded stands beside the first: that may follow what was not loaded. */
  async #sent(conversation: string, options: Omit<Sending, "abortSignal">, signal?: AbortSignal) {
    const { trigger, messageId, messages } = options;
    const asked = messages.at(-1)!;
    if (trigger === "regenerate-message") {
      const id = messageId ?? asked.id;
      const path = `${conversation}/messages/${this.idOf({ id })}/regenerate`;
      try {
        return await this.#streamed(path, {}, options, signal);
      } catch (error) {
        // A message that was refused is not there: it is sent again.
        const isUnsent = error instanceof Refusal && error.status === 404 && id === asked.id;
        if (!isUnsent) throw error;
      }
    } else if (messageId !== undefined) {
      this.#edited.set(messageId, generateId());
    }
    const above = messages.findLast(({ role }) => role === "assistant")?.id ?? null;
    const files = asked.parts.filter((part) => part.type === "file");
    const body = {
      id: this.idOf(asked),
      content: asked.parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
      upload_ids: await Promise.all(files.map((file) => this.#upload(file))),
      parent_id: this.#parents.get(asked.id) ?? above,
    };
    return this.#streamed(`${conversation}/messages`, body, options, signal);
  }

  async #streamed(
    path: string,
    body: object,
    options: Omit<Sending, "abortSignal">,
    signal?: AbortSignal,
  ): Promise<Chunks> {
    return new DefaultChatTransport<Message>({
      api: `${this.#options.baseURL}/api/conversations/${path}`,
      fetch: (url, init) => this.#fetch(url, init, signal),
      prepareSendMessagesRequest: () => ({ body: { ...body, ...options.body } }),
    }).sendMessages({ ...options, abortSignal: undefined });
  }

  /** The chunks that are being opened, until the reply to `asked` is stopped, which then is written
   * no further. */
  async #stoppable(
    opening: Promise<Opened>,
    chatId: string,
    asked?: Message,
    signal?: AbortSignal,
  ): Promise<Chunks | null> {
    const opened = opening.then(({ conversation, chunks }) => {
      return { conversation, reader: chunks?.getReader() };
    });
    let replyId: string | undefined;
    const next = async (reader: ReadableStreamDefaultReader<UIMessageChunk>) => {
      const chunk = await reader.read();
      if (chunk.value?.type === "start") replyId = chunk.value.messageId;
      return chunk;
    };
    const stopped = this.#stopped(signal, chatId, async () => {
      const reply = await opened.catch(() => undefined); // what was not sent is not stopped
      if (!reply?.reader) return unchanged;
      while (replyId === undefined && !(await next(reply.reader)).done);
      if (replyId === undefined) return unchanged;
      const path = `/api/conversations/${reply.conversation}/messages/${replyId}`;
      // Kept alive: who stops a reply may leave the page at once.
      await this.#ask(`${path}/stop`, { method: "POST", keepalive: true });
      const ended = async () => {
        while (!(await next(reply.reader!)).done); // its end comes in a moment
        const stored = (await this.#ask(path)) as Stored;
        if (stored.status === "running") return unchanged;
        const message = this.#shown(stored);
        return (shown: Message[]) => placed(shown, message, asked);
      };
      return ended().catch(() => unchanged); // it is stopped, whatever breaks now
    });
    const { reader } = await opened;
    if (!reader) return null;
    return new ReadableStream({
      start: (controller) => {
        void stopped.then((isMeant) => {
          controller.error(signal?.reason);
          if (!isMeant) return reader.cancel();
        });
      },
      pull: async (controller) => {
        const { done, value } = await next(reader);
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async (reason) => {
        if (!signal?.aborted) await reader.cancel(reason);
      },
    });
  }

  /** Resolves when `signal` is aborted. True for a stop, for which the next message waits from that
   * moment on. React may resume twice, and the SDK aborts the first attempt as the second one
   * begins: false. */
  #stopped(
    signal: AbortSignal | undefined,
    chatId: string,
    stop: () => Promise<Update>,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const aborted = () => {
        const before = this.#resumed;
        const isMeant = Promise.resolve().then(() => before === this.#resumed);
        const stopping = isMeant
          .then((is) => (is ? stop() : unchanged))
          .catch((error) => {
            this.#options.onStopFailed?.(error);
            return unchanged;
          });
        this.#stops.set(chatId, stopping);
        this.#stopping = Promise.all([this.#stopping, stopping]);
        resolve(isMeant);
      };
      signal?.addEventListener("abort", aborted, { once: true });
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

  #shown({ id, parent_id, role, content, reasoning, ...stored }: Stored): Message {
    const { attachments, model, status, usage } = stored;
    this.#parents.set(id, parent_id);
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

  /** A request that has been sent is not aborted by `signal`: the service carries it out. */
  async #fetch(
    url: RequestInfo | URL,
    request: RequestInit = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const headers = new Headers(request.headers);
    headers.set("Authorization", `Bearer ${await this.#options.token()}`);
    signal?.throwIfAborted();
    const answer = await fetch(url, { ...request, headers });
    if (answer.ok) return answer;
    const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    // Of a 402 the detail is an object, with all that the others have beside it.
    const fields = (typeof body.detail === "object" ? body.detail : body) as typeof body;
    const { code = "unknown", message = body.detail ?? answer.statusText } = fields;
    throw new Refusal(answer.status, String(code), String(message), fields);
  }
}

/** A reply in its place among the messages that are shown: after what it answers, where it is not
 * shown yet. */
function placed(shown: Message[], reply: Message, asked?: Message): Message[] {
  if (shown.some(({ id }) => id === reply.id)) {
    return shown.map((message) => (message.id === reply.id ? reply : message));
  }
  const place = shown.findIndex(({ id }) => id === asked?.id) + 1 || shown.length;
  return [...shown.slice(0, place), reply, ...shown.slice(place)];
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
