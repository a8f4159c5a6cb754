/** The `before` of the page that follows on this answer, null where it was the last one. */
export function beforeOfNext({ headers }: Response): string | null {
  const next = /<([^>]*)>;\s*rel="next"/.exec(headers.get('Link') ?? '')?.[1];
  return next ? new URL(next, location.origin).searchParams.get('before') : null;
}
