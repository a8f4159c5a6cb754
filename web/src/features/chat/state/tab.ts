const KEY = 'tab';
const lockOf = (id: string) => `tab ${id}`;

// A tab that was copied from another one has its id as well, until it finds that out.
let id = sessionStorage.getItem(KEY) ?? '';

/** The id of this tab, which it keeps when it is loaded again. */
export function tabId(): string {
  if (!id) hold(crypto.randomUUID());
  return id;
}

/** Is no tab open that has this id? */
export async function isClosed(tab: string): Promise<boolean> {
  if (tab === id) return false;
  return navigator.locks.request(lockOf(tab), { ifAvailable: true }, (lock) => lock !== null);
}

/** Takes an id for as long as this tab is open. */
function hold(wanted: string): void {
  id = wanted;
  sessionStorage.setItem(KEY, wanted);
  void navigator.locks.request(lockOf(wanted), { ifAvailable: true }, (lock) => {
    if (lock) return new Promise(() => {});
    hold(crypto.randomUUID());
  });
}

if (id) hold(id);
