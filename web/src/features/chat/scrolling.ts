// So far from the end a reader still reads the end.
const NEAR = 80;

/**
 * Keeps a reader who is at the end of a growing content there, and one who is elsewhere where they are.
 */
export class Scrolling {
  #isAtEnd = true;
  readonly #box: HTMLElement;
  readonly #told: (isAtEnd: boolean) => void;
  readonly #growth: ResizeObserver;

  /** Of a box that scrolls one element; `told` hears whether its end is read, whenever that changes. */
  constructor(box: HTMLElement, told: (isAtEnd: boolean) => void) {
    this.#box = box;
    this.#told = told;
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
    this.#set(scrollHeight - scrollTop - clientHeight < NEAR);
  };

  #set(isAtEnd: boolean): void {
    if (isAtEnd === this.#isAtEnd) return;
    this.#isAtEnd = isAtEnd;
    this.#told(isAtEnd);
  }
}
