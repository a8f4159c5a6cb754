import { m } from '#messages';
import type { Space } from './spaces.svelte.ts';

/** What the user may do in a space that is shared; nothing for one that is theirs alone. */
export function accessWords({ access, shared }: Space): string {
  if (access === 'read') return m.spaces_access_read();
  if (access === 'write') return m.spaces_access_write();
  return shared ? m.spaces_access_shared() : '';
}
