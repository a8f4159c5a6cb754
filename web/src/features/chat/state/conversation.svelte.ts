import { m } from '#messages';
import { answer, api } from '#api/client.ts';
import { Refusal } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import { session } from '#api/session.svelte.ts';
import { models, type Model } from '#features/models/models.svelte.ts';
import { regenerate, running, sendMessage, type ReplyCall } from '#live/reply.ts';
import { userEvents, type UserEvent } from '#live/user_events.ts';
import { toasts } from '#ui/toasts.svelte.ts';
import { Draft, type Sending, type Upload } from './draft.svelte.ts';
import { awaited, Entry, question, type Message } from './entry.svelte.ts';
import {
  beginConversation,
  deleteConversation,
  deleteMessage,
  newerMessages,
  paidFor,
  rateReply,
  readMessage,
  showBranch,
  stopReply,
  type Rating
} from './calls.ts';
import { Messages } from './messages.svelte.ts';
import { beginningOf, isFinal, type Problem } from './problem.ts';
import { Reading } from './reading.svelte.ts';
import type { Tree } from './tree.ts';

type Schemas = components['schemas'];
export type { Rating };
export type Effort = Schemas['ReasoningEffort'];
type Row = Omit<Schemas['ConversationDetail'], 'messages'>;

/** What a `conversation.updated` tells of, but for a message that was deleted. */
const NAMED = ['title', 'model', 'space_id', 'pinned'] as const;

/**
 * One conversation: its messages on all branches, the branch that is shown, and the reply that is being
 * written, wherever it was asked for. Without an id it is begun by its first message.
 */
export class Conversation {
  id = $state<string | null>(null);
  row = $state.raw<Row | null>(null);
  isLoading = $state(false);
  /** It was deleted, or is nobody's here. */
  isGone = $state(false);
  /** Why it could not be loaded. */
  refusal = $state.raw<Refusal | null>(null);
  problem = $state.raw<Problem | null>(null);
  reading = $state.raw<Reading | null>(null);
  /** The model that is to answer, where one was chosen. */
  chosenModel = $state<string | null>(null);
  effort = $state<Effort | null>(null);
  /** What screen readers are told. */
  announcement = $state('');
  readonly draft: Draft;
  /** Told when it has been begun; with null, when it has not been, after all. */
  onbegun: ((id: string | null) => void) | null = null;
  /** Told when it is deleted while it is shown. */
  ondeleted: (() => void) | null = null;
  /** The space that it is begun in. */
  spaceId = $state<string | null>(null);
  readonly #messages = new Messages();
  readonly model: Model | null = $derived.by(() => {
    return models.find(this.chosenModel ?? this.#asked ?? this.row?.model) ?? models.default;
  });
  /** The model that was asked last. One that has only answered again is not written to. */
  readonly #asked: string | null = $derived.by(() => {
    const last = this.branch.findLast(({ isReply }) => isReply);
    const all = last ? this.tree.alternatives(last) : [];
    const first = all.find(({ message }) => message.status !== 'failed') ?? last;
    return first?.message.model ?? null;
  });
  readonly title = $derived(this.row?.title ?? '');
  readonly canWrite = $derived(this.row?.access !== 'read');
  #unsubscribe: (() => void) | null = null;
  /** The branches that were chosen are told one after the other, and before a message follows one. */
  #told: Promise<unknown> = Promise.resolve();
  #removals = 0;
  readonly #left = new AbortController();

  constructor(id: string | null) {
    this.id = id;
    this.isLoading = id !== null;
    this.draft = new Draft(session.user!.id, id);
  }

  get tree(): Tree<Entry> {
    return this.#messages.tree;
  }

  /** The messages that are shown. */
  get branch(): Entry[] {
    return this.#messages.branch;
  }

  // --- Coming and going ----------------------------------------------------------------------------

  /** Loads it, and keeps it up to date until the returned function is called. */
  open(): () => void {
    const apply = (event: UserEvent) => this.#apply(event);
    this.#unsubscribe = userEvents.subscribe(apply, () => void this.load());
    if (this.id === null) {
      this.draft.settle(new Set());
      void this.draft.adopt();
    } else void this.load();
    return () => {
      this.#unsubscribe?.();
      [this.onbegun, this.ondeleted] = [null, null];
      this.#left.abort();
      this.reading?.leave();
    };
  }

  async load(): Promise<void> {
    // What is being sent is part of what is shown, and not yet of what is there.
    if (this.reading && !this.reading.hasBegun) return;
    const path = { conversation_id: this.id! };
    this.refusal = null;
    try {
      const call = api.GET('/api/conversations/{conversation_id}', { params: { path } });
      const { messages, ...row } = await answer(call);
      this.reading?.leave();
      this.reading = null;
      this.row = row;
      const entries = (messages ?? []).map((message) => new Entry(message));
      this.#messages.open(entries, row.active_leaf_id);
      this.#settleDraft();
      this.#followRunning();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 404) this.#gone();
      else this.refusal = error;
    } finally {
      this.isLoading = false;
    }
  }

  #gone(): void {
    this.isGone = true;
    if (this.draft.leave()) toasts.say(m.chat_draft_kept());
  }

  #settleDraft(): void {
    this.draft.settle(this.#messages.clientIds);
  }

  #apply(event: UserEvent): void {
    if (event.type === 'conversation.updated' && event.data.conversation.id === this.id) {
      this.#updated(event.data.conversation);
    } else if (event.type === 'conversation.deleted' && event.data.conversation_id === this.id) {
      this.reading?.leave();
      this.#gone();
      this.ondeleted?.();
    } else if (event.type === 'conversation.replied' && event.data.conversation_id === this.id) {
      const { title, message_id, status } = event.data;
      if (this.row) this.row = { ...this.row, title };
      void this.#replied(message_id, status === 'running');
    }
  }

  #updated(changes: Omit<Row, 'system'>): void {
    const before = this.row;
    if (before) this.row = { ...before, ...changes };
    // Messages were deleted elsewhere.
    const isSame = NAMED.every((name) => before?.[name] === changes[name]);
    if (isSame && !this.#removals && changes.active_leaf_id !== this.#messages.leafId)
      void this.load();
  }

  /** A reply has begun or ended, here or anywhere. */
  async #replied(id: string, isRunning: boolean): Promise<void> {
    if (this.isLoading || (this.reading && !this.reading.hasBegun)) return;
    const entry = this.tree.find(id);
    if (!entry) await this.#catchUp();
    else if (!isRunning && entry.isRunning && this.reading?.reply !== entry) await this.look(entry);
  }

  /** Loads what was said elsewhere meanwhile. */
  async #catchUp(): Promise<void> {
    const newer = await newerMessages(this.id!, this.#messages.newestId).catch(() => null);
    if (!newer) return this.load();
    const added = newer
      .filter(({ id }) => !this.tree.find(id))
      .map((message) => new Entry(message));
    if (added.length === 0) return;
    this.#messages.addFromElsewhere(added);
    this.#settleDraft();
    this.#followRunning();
  }

  /** Reads the reply that is being written, if this page does not do so yet. */
  #followRunning(): void {
    const reply = this.#messages.all.findLast((entry) => entry.isReply && entry.isRunning);
    if (!reply || this.reading) return;
    const { content, reasoning } = reply.message;
    const place = [...(reasoning ?? ''), ...content].length;
    void this.#read(running(this.id!, reply.id, place), new Reading(reply, true));
  }

  // --- Saying something ----------------------------------------------------------------------------

  /** Sends what is written. */
  async send(): Promise<void> {
    const { text: content, uploads } = this.draft;
    if (this.reading || (!content.trim() && uploads.length === 0)) return;
    [this.draft.text, this.draft.uploads] = ['', []];
    await this.#say({ content, uploads, parentId: this.#messages.leafId, edits: null });
  }

  /** Says `content`, whatever is written. */
  async say(content: string): Promise<void> {
    if (this.reading) return;
    await this.#say({ content, uploads: [], parentId: this.#messages.leafId, edits: null });
  }

  /** Begins to edit a message of the user. */
  edit(entry: Entry): void {
    this.draft.editing = { id: entry.id, text: entry.message.content };
    this.draft.keep();
  }

  /** Sends the new text of the message that is edited, in its place and with its files. */
  async sendEdit(uploads: Upload[]): Promise<void> {
    const { editing } = this.draft;
    const edited = this.tree.find(editing?.id ?? null);
    if (this.reading || !editing || !edited) return;
    this.draft.editing = null;
    const { parentId } = edited;
    await this.#say({ content: editing.text, uploads, parentId, edits: edited.id });
  }

  async #say(said: Omit<Sending, 'id'>): Promise<void> {
    const { id, content, uploads, parentId } = this.draft.send(said);
    const author_id = session.user!.id;
    const attachments = uploads.map((upload) => ({ ...upload, url: '' }));
    const asked = question({ id, parent_id: parentId, content, author_id, attachments });
    const reply = awaited({ parent_id: id, model: this.model?.id ?? null, author_id });
    const again = (model?: string) => {
      this.chosenModel = model ?? this.chosenModel;
      void (said.edits ? this.sendEdit(uploads) : this.send());
    };
    const isFirst = this.id === null;
    await this.#ask([asked, reply], { again, answered: null }, async () => {
      const conversation = await this.#begun();
      await this.#told;
      return sendMessage(conversation, {
        id,
        content,
        parent_id: parentId,
        upload_ids: uploads.map((upload) => upload.id),
        ...this.#wishes()
      });
    });
    if (isFirst && this.id !== null && this.branch.length === 0 && isFinal(this.problem))
      this.#unbegin();
  }

  /** Has a message answered once more, by the model that answered it before if none is named. */
  async regenerate(entry: Entry, model?: string): Promise<void> {
    const answered = entry.isReply ? this.tree.find(entry.parentId) : entry;
    if (this.reading || !answered) return;
    const author_id = session.user!.id;
    const reply = awaited({
      parent_id: answered.id,
      model: model ?? entry.message.model,
      author_id
    });
    const again = (other?: string) => void this.regenerate(entry, other ?? model);
    const answers = beginningOf(answered.message.content);
    await this.#ask([reply], { again, answered: answers }, async () => {
      await this.#told;
      const place = { messageId: entry.id, answeredId: answered.id };
      return regenerate(this.id!, place, { model });
    });
  }

  #wishes() {
    const { model, effort } = this;
    const canThink = effort !== null && model?.reasoning_efforts.includes(effort);
    return { model: model?.id, reasoning_effort: canThink ? effort : undefined };
  }

  /** The conversation's id: begins it, if that is not done. */
  async #begun(): Promise<string> {
    if (this.id !== null) return this.id;
    this.row = await beginConversation(this.chosenModel, this.spaceId);
    this.id = this.row.id;
    this.draft.moveTo(this.id);
    this.onbegun?.(this.id);
    return this.id;
  }

  /** Its first message was refused: none is begun, and no empty one is left behind. */
  #unbegin(): void {
    const id = this.id!;
    [this.id, this.row] = [null, null];
    this.draft.moveTo(null);
    this.onbegun?.(null);
    // What cannot be deleted now is there as an empty one.
    void deleteConversation(id).catch(() => {});
  }

  /** Shows what is asked at once, with a reply that is to come, and takes it back if it is refused. */
  async #ask(
    shown: Entry[],
    way: Pick<Problem, 'again' | 'answered'>,
    call: () => Promise<ReplyCall>
  ): Promise<void> {
    const before = this.#messages.leafId;
    const reading = new Reading(shown.at(-1)!);
    this.problem = null;
    this.reading = reading;
    this.#messages.add(shown);
    try {
      await this.#read(await call(), reading, shown[0]);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { model } = reading.reply.message;
      this.problem = { refusal: error, model, ...way };
      // What is left of it may have been used elsewhere.
      if (error.status === 402) void models.reload();
    } finally {
      if (this.reading === reading) this.reading = null;
      if (!reading.hasBegun) {
        this.#messages.takeBack(shown, before);
        this.draft.giveBack();
      }
    }
    if (this.problem?.refusal.code !== 'reply_running') return;
    await this.#catchUp();
    this.#waited();
  }

  /** A message that was refused because a reply was being written can be sent when none is. */
  #waited(): void {
    if (!this.reading && this.problem?.refusal.code === 'reply_running') this.problem = null;
  }

  /** Reads a reply to its end. `asked` is the message that it answers, where that is new, too. */
  async #read(call: ReplyCall, reading: Reading, asked?: Entry): Promise<void> {
    this.reading = reading;
    const { reply } = reading;
    try {
      const hasEnded = await reading.read(call, {
        began: ({ messageId, messageMetadata: { user_message_id } }) => {
          if (asked && !asked.isReply) this.#messages.place(asked, user_message_id);
          this.#messages.place(reply, messageId, user_message_id);
          this.draft.sent();
          if (reading.isStopping) void this.#stop(reply);
        },
        titled: (title) => {
          if (this.row) this.row = { ...this.row, title };
        }
      });
      if (hasEnded) void this.#ended(reply, asked);
    } catch (error) {
      if (!reading.hasBegun || !(error instanceof Refusal)) throw error;
      // Of what is stored more is known than of what was shown.
      if (session.isSignedIn) void this.load();
    } finally {
      if (this.reading === reading) this.reading = null;
      this.#waited();
    }
  }

  async #ended(reply: Entry, asked?: Entry): Promise<void> {
    const { status, content, model } = reply.message;
    this.announcement = `${models.nameOf(model ?? '')}: ${content.slice(0, 2000)}`;
    // What the provider said is in the message alone, and so are the links to files.
    if (status === 'failed') await this.look(reply);
    if (asked?.message.attachments.some(({ url }) => !url)) await this.look(asked);
    const paid = await paidFor(this.id!, reply.message, this.#left.signal);
    if (paid) reply.change(paid);
    // What was left before a reply is known for those that were asked for here.
    if (!asked) await models.reload();
    else if (paid && model) models.replied(model, paid.usage);
  }

  // --- The reply that is being written -------------------------------------------------------------

  /** Stops the reply. What has come of it stays, and is billed. */
  async stop(): Promise<void> {
    const { reading } = this;
    if (!reading || reading.isStopping) return;
    reading.isStopping = true;
    if (reading.hasBegun) await this.#stop(reading.reply);
    // It has not arrived, as far as is known: it is taken back.
    else if (reading.isBroken) reading.leave();
  }

  async #stop(reply: Entry): Promise<void> {
    const isStopped = await this.#try(() => stopReply(this.#placeOf(reply)));
    if (!isStopped && this.reading) this.reading.isStopping = false;
  }

  // --- What is there -------------------------------------------------------------------------------

  /** Shows the newest branch through a message. */
  show(entry: Entry): void {
    const { id } = this.#messages.show(entry);
    if (this.canWrite && (!this.reading || this.reading.hasBegun)) this.#tell(id);
  }

  /** Makes a branch the one that is shown, everywhere. */
  #tell(leafId: string): void {
    // It is shown here all the same where that cannot be told.
    this.#told = this.#told.then(() => showBranch(this.id!, leafId)).catch(() => {});
  }

  /** A message, on the branch that is shown from now on; null where there is none of this id. */
  find(id: string): Entry | null {
    const entry = this.tree.find(id);
    if (entry && !this.branch.includes(entry)) this.#messages.show(entry);
    return entry;
  }

  /** Reads a message as it is stored. */
  async look(entry: Entry): Promise<void> {
    await this.#try(async () => entry.change(await readMessage(this.#placeOf(entry))));
  }

  /** Deletes a message for good, with all that follows it. */
  async remove(entry: Entry): Promise<void> {
    this.#removals++;
    await this.#try(async () => {
      await deleteMessage(this.#placeOf(entry));
      const gone = this.#messages.remove(entry);
      if (this.reading && gone.has(this.reading.reply)) this.reading.leave();
      const { leafId } = this.#messages;
      if (leafId && leafId !== entry.parentId) this.#tell(leafId);
    });
    this.#removals--;
  }

  /** Says what the user thinks of a reply; null takes that back. */
  async rate(entry: Entry, rating: Rating | null, comment?: string): Promise<void> {
    const before = entry.message.feedback;
    entry.change({ feedback: rating && { rating, comment: comment ?? null } });
    const isDone = await this.#try(() => rateReply(this.#placeOf(entry), rating, comment));
    if (!isDone) entry.change({ feedback: before });
  }

  #placeOf(entry: Entry) {
    return { conversation_id: this.id!, message_id: entry.id };
  }

  /** Does something, or says why it was not done. */
  async #try(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.problem = { refusal: error, model: null, again: null, answered: null };
      return false;
    }
  }
}

export type { Entry, Message, Problem };
