// So far from the end a reader still reads the end.
const NEAR = 80;
// So far from the beginning what comes before it is wanted.
const SOON = 1500;

interface Listener {
  /** Whether the end is read, whenever that changes. */
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
    this.#growth = new ResizeObserver(() => this.#isAtEnd && this.#follow());
    this.#growth.observe(box);
    this.#growth.observe(box.firstElementChild!);
    box.addEventListener('scroll', this.#scrolled, { passive: true });
  }

  destroy(): void {
    this.#growth.disconnect();
    this.#box.removeEventListener('scroll', this.#scrolled);
  }

  toEnd(): void {
    this.#set(true);
    this.#follow();
  }

  /** Shows an element, and stays there. */
  to(element: Element): void {
    this.#set(false);
    element.scrollIntoView({ block: 'center' });
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
    const { scrollHeight, scrollTop, clientHeight } = this.#box;
    // What has grown since is no reason to leave the end, what has moved upwards is.
    if (scrollHeight - scrollTop - clientHeight < NEAR) this.#set(true);
    else if (scrollTop < this.#top) this.#set(false);
    if (scrollTop < SOON && scrollTop <= this.#top) this.#listener.nearBeginning();
    this.#top = scrollTop;
  };

  #set(isAtEnd: boolean): void {
    if (isAtEnd === this.#isAtEnd) return;
    this.#isAtEnd = isAtEnd;
    this.#listener.atEnd(isAtEnd);
  }
}
