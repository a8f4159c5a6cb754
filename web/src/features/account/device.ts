import { remember, remembered } from '#features/frame/remembered.ts';

const KEY = 'device_id';

/** The id of this browser: wrong passwords that are tried elsewhere do not delay it. */
export function deviceId(): string {
  const known = remembered(KEY);
  if (known) return known;
  const made = crypto.randomUUID();
  remember(KEY, made);
  return made;
}
