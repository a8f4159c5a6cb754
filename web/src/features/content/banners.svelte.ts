import { getLocale } from '#runtime';
import { answer, publicApi } from '#api/client.ts';
import { Refusal } from '#api/refusal.ts';
import type { components } from '#api/schema.d.ts';
import { remember, remembered } from '#features/frame/remembered.ts';

export type Entry = components['schemas']['ContentEntry'];

const KEY = 'banners_dismissed';
// Timers cannot wait for longer.
const LONGEST_MS = 2 ** 31 - 1;

/** Operators' banners: those that have not ended, and that were not hidden here as they are now. */
export class Banners {
  #entries = $state.raw<Entry[]>([]);
  #now = $state(Date.now());
  // When the banners that were hidden here had been changed, by their ids.
  #dismissed = $state.raw<Record<string, string>>({});
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly shown = $derived(
    this.#entries.filter(
      (entry) => !hasEnded(entry, this.#now) && this.#dismissed[entry.id] !== entry.updated_at
    )
  );

  /** Loads them. Nobody misses those that cannot be loaded. */
  async load(): Promise<void> {
    const query = { kind: 'banner', locale: getLocale() } as const;
    try {
      this.take(await answer(publicApi.GET('/api/cms', { params: { query } })));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /** Shows these. What was hidden and is gone is forgotten. */
  take(entries: Entry[]): void {
    const dismissed = JSON.parse(remembered(KEY) ?? '{}') as Record<string, string>;
    const ids = new Set(entries.map(({ id }) => id));
    this.#dismissed = Object.fromEntries(Object.entries(dismissed).filter(([id]) => ids.has(id)));
    this.#entries = entries;
    this.#look();
  }

  /** Hides a banner on this device, until it is changed. */
  dismiss({ id, updated_at }: Entry): void {
    this.#dismissed = { ...this.#dismissed, [id]: updated_at };
    remember(KEY, JSON.stringify(this.#dismissed));
  }

  // Looks at the clock, now and whenever a banner ends.
  #look(): void {
    clearTimeout(this.#timer);
    this.#now = Date.now();
    const ends = this.shown.flatMap(({ ends_at }) => (ends_at ? [Date.parse(ends_at)] : []));
    if (ends.length === 0) return;
    const wait = Math.min(...ends) - this.#now;
    this.#timer = setTimeout(() => this.#look(), Math.min(wait, LONGEST_MS));
  }
}

function hasEnded({ ends_at }: Entry, now: number): boolean {
  return ends_at !== null && Date.parse(ends_at) <= now;
}

export const banners = new Banners();
