/** The page to go back to after signing in. Only paths of the app itself are followed. */
export function nextPath(search: Pick<URLSearchParams, 'get'>): string {
  const next = search.get('next') ?? '/';
  const url = URL.parse(next, location.origin);
  if (!next.startsWith('/') || url?.origin !== location.origin) return '/';
  return url.pathname + url.search + url.hash;
}

/** The page for signing in, which comes back to this one. */
export function signInPath(url: Pick<URL, 'pathname' | 'search'>): string {
  return leadingTo('/sign-in', url.pathname + url.search);
}

/** Another page on the way to signing in, which comes back to where this one would. */
export function withNext(path: string, search: Pick<URLSearchParams, 'get'>): string {
  return leadingTo(path, nextPath(search));
}

/** The page at `path`, which goes on to `next`. */
export function leadingTo(path: string, next: string): string {
  return next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`;
}
