/** The page to go back to after signing in. Only paths of the app itself are followed. */
export function nextPath(search: Pick<URLSearchParams, 'get'>): string {
  const next = search.get('next') ?? '/';
  const { origin, pathname, search: query, hash } = new URL(next, location.origin);
  return next.startsWith('/') && origin === location.origin ? pathname + query + hash : '/';
}

/** The page for signing in, which comes back to this one. */
export function signInPath(url: Pick<URL, 'pathname' | 'search'>): string {
  const here = url.pathname + url.search;
  return here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`;
}
