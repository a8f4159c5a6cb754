const SHOWN_MS = 2000;

/** Copies a text, and says so for a moment. */
export class Copying {
  isDone = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  async copy(text: string): Promise<void> {
    await toClipboard(text);
    this.isDone = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.isDone = false), SHOWN_MS);
  }
}

/** Pages of a plain http address have no clipboard of their own. */
async function toClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement('textarea'), { value: text });
  document.body.append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way
  document.execCommand('copy');
  area.remove();
}
