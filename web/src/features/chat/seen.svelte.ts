import { getContext, setContext } from 'svelte';

const wanted = new WeakMap<Element, () => void>();
let observer: IntersectionObserver | undefined;

/** Calls `act` once, when an element is about to be seen. Cancelled by the returned function. */
export function whenSeen(element: Element, act: () => void): () => void {
  // The thread scrolls by itself, a shared conversation with the page.
  observer ??= new IntersectionObserver(seen, { rootMargin: '400px', scrollMargin: '400px' });
  wanted.set(element, act);
  observer.observe(element);
  return () => observer?.unobserve(element);
}

function seen(entries: IntersectionObserverEntry[]): void {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    observer?.unobserve(target);
    wanted.get(target)?.();
  }
}

const KEY = Symbol('seen');
const ALWAYS = { is: true };

/** Whether a part of a page has been seen, or was about to be: what is costly in it can wait for that. */
class Seen {
  is = $state(false);
}

/** For the component that is a part. */
export const beginPart = (): Seen => setContext(KEY, new Seen());

/** Of the part that a component is in; what is in none counts as seen. */
export const partOf = (): { readonly is: boolean } => getContext<Seen | undefined>(KEY) ?? ALWAYS;
