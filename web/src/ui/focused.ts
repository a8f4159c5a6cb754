import type { Attachment } from 'svelte/attachments';

/** Focuses a field as it appears, but for where that would open a keyboard over the page. */
export const focused: Attachment<HTMLElement> = (element) => {
  if (matchMedia('(hover: hover)').matches) element.focus();
};
