const touch = matchMedia('(pointer: coarse)');

/** Enter sends; with Shift, or on the keyboard of a phone, it begins a line. */
export function isSendKey(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.isComposing && !touch.matches;
}
