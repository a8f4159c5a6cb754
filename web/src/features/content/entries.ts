import { error } from '@sveltejs/kit';
import { getLocale } from '#runtime';
import { answer, publicApi } from '#api/client.ts';
import { Refusal } from '#api/refusal.ts';
import type { Entry } from './banners.svelte.ts';

/** How many pieces of news come at a time. */
export const NEWS = 20;

/** The page of this name, in the reader's language where it is written in it. Raises a Refusal, or SvelteKit's 404. */
export async function loadPage(slug: string): Promise<Entry> {
  const query = { kind: 'page', slug, locale: getLocale() } as const;
  try {
    const [page] = await answer(publicApi.GET('/api/cms', { params: { query } }));
    return page ?? error(404);
  } catch (cause) {
    // What can be no name is none either.
    if (cause instanceof Refusal && cause.status === 422) error(404);
    throw cause;
  }
}

/** The newest news, or those that come after the one of this id. Raises a Refusal. */
export async function loadNews(before?: string): Promise<Entry[]> {
  const query = { kind: 'news', locale: getLocale(), limit: NEWS, before } as const;
  return answer(publicApi.GET('/api/cms', { params: { query } }));
}

/** The day of a time, as readers of the page write it. */
export function day(time: string): string {
  return new Date(time).toLocaleDateString(getLocale(), { dateStyle: 'long' });
}
