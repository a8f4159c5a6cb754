const KEYS: Record<string, (links: HTMLElement[], at: number) => HTMLElement | undefined> = {
  ArrowDown: (links, at) => links[at + 1],
  ArrowUp: (links, at) => links[at - 1],
  Home: (links) => links[0],
  End: (links) => links.at(-1)
};

/** Moves the focus from row to row with the arrow keys, Home and End. */
export function moveFocus(event: KeyboardEvent): void {
  const from = event.target as HTMLElement;
  const list = event.currentTarget as HTMLElement;
  const next = KEYS[event.key];
  if (!next || !from.matches('[data-row]')) return;
  event.preventDefault();
  const links = [...list.querySelectorAll<HTMLElement>('[data-row]')];
  next(links, links.indexOf(from))?.focus();
}
