import { MediaQuery } from 'svelte/reactivity';
import { remember, remembered } from './remembered.ts';

const KEY = 'sidebar';

/**
 * The sidebar: beside the page, where it may be folded up to a rail, or on a phone a drawer above it.
 */
class Sidebar {
  readonly #narrow = new MediaQuery('width < 48rem');
  #isFolded = $state(remembered(KEY) === 'folded');
  #isDrawn = $state(false);
  #opener: HTMLElement | null = null;

  get isDrawer(): boolean {
    return this.#narrow.current;
  }

  /** Is the whole of it shown? */
  get isOpen(): boolean {
    return this.isDrawer ? this.#isDrawn : !this.#isFolded;
  }

  /** Does it keep the rest of the page from being used? */
  get isModal(): boolean {
    return this.isDrawer && this.#isDrawn;
  }

  toggle(): void {
    if (this.isOpen) this.close();
    else this.open();
  }

  open(): void {
    if (this.isDrawer) {
      this.#opener = document.activeElement as HTMLElement | null;
      this.#isDrawn = true;
    } else {
      this.#fold(false);
    }
  }

  close(): void {
    if (this.isDrawer) this.closeDrawer();
    else this.#fold(true);
  }

  /** Closes it where it is a drawer: somebody has chosen a page in it. */
  closeDrawer(): void {
    this.#isDrawn = false;
  }

  /** What had the focus before the drawer was opened. */
  opener(): HTMLElement | null {
    const opener = this.#opener;
    this.#opener = null;
    return opener;
  }

  #fold(isFolded: boolean): void {
    this.#isFolded = isFolded;
    remember(KEY, isFolded ? 'folded' : null);
  }
}

export const sidebar = new Sidebar();
