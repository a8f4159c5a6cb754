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
