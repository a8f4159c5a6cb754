/** What one list is asked for, or its next page. */
export type PageQuery = Record<string, string>;

/** The query of the page that follows on this answer, to be sent as it is; null where there is none. */
export function nextPage({ headers }: Response): PageQuery | null {
  const next = /<([^>]*)>;\s*rel="next"/.exec(headers.get('Link') ?? '')?.[1];
  return next ? Object.fromEntries(new URL(next, location.origin).searchParams) : null;
}
