// So far from the end a reader still reads the end.
const NEAR = 80;
// So far from the beginning what comes before it is wanted.
const SOON = 1500;

interface Listener {
  /** Whether the end is read, or nothing is below what is read. */
  atEnd(isAtEnd: boolean): void;
  nearBeginning(): void;
}

/**
 * Keeps a reader who is at the end of a growing content there, and one who is elsewhere where they are.
 */
export class Scrolling {
  #isAtEnd = true;
  #top = 0;
  readonly #box: HTMLElement;
  readonly #listener: Listener;
  readonly #growth: ResizeObserver;

  /** Of a box that scrolls one element. */
  constructor(box: HTMLElement, listener: Listener) {
    this.#box = box;
    this.#listener = listener;
    // It is called when the layout is done, before anything is painted.
    this.#growth = new ResizeObserver(() => (this.#isAtEnd ? this.#follow() : this.#tell()));
    this.#growth.observe(box);
    this.#growth.observe(box.firstElementChild!);
    box.addEventListener('scroll', this.#scrolled, { passive: true });
  }

  destroy(): void {
    this.#growth.disconnect();
    this.#box.removeEventListener('scroll', this.#scrolled);
  }

  toEnd(): void {
    this.#isAtEnd = true;
    this.#follow();
    this.#tell();
  }

  /** Shows an element, and stays there. */
  to(element: Element): void {
    this.#isAtEnd = false;
    element.scrollIntoView({ block: 'center' });
    this.#tell();
  }

  /** Changes what is above the reader, who stays where they are. */
  async keep(change: () => Promise<void>): Promise<void> {
    const below = this.#box.scrollHeight - this.#box.scrollTop;
    await change();
    this.#box.scrollTop = this.#box.scrollHeight - below;
  }

  #follow(): void {
    this.#box.scrollTop = this.#box.scrollHeight;
  }

  readonly #scrolled = (): void => {
    const { scrollTop } = this.#box;
    // What has grown since is no reason to leave the end, what has moved upwards is.
    if (this.#isNearEnd) this.#isAtEnd = true;
    else if (scrollTop < this.#top) this.#isAtEnd = false;
    this.#tell();
    if (scrollTop < SOON && scrollTop <= this.#top) this.#listener.nearBeginning();
    this.#top = scrollTop;
  };

  get #isNearEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.#box;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  #tell(): void {
    this.#listener.atEnd(this.#isAtEnd || this.#isNearEnd);
  }
}
