import FolderInput from '@lucide/svelte/icons/folder-input';
import ListChecks from '@lucide/svelte/icons/list-checks';
import Pencil from '@lucide/svelte/icons/pencil';
import Pin from '@lucide/svelte/icons/pin';
import PinOff from '@lucide/svelte/icons/pin-off';
import Trash from '@lucide/svelte/icons/trash-2';
import { m } from '#messages';
import type { MenuEntry } from '#ui/menu.ts';
import { toasts } from '#ui/toasts.svelte.ts';
import type { Conversations } from './conversations.svelte.ts';
import type { Row } from './rows.ts';

/**
 * What can be done with a conversation, by what its user may do. `isListed`: in a list, in which several can
 * be chosen.
 */
export function rowEntries(
  conversations: Conversations,
  row: Row,
  rename: () => void,
  isListed = true
): MenuEntry[] {
  const select: MenuEntry = {
    kind: 'action',
    label: m.conversations_select(),
    icon: ListChecks,
    onselect: () => conversations.selection.begin(row.id)
  };
  const entries: MenuEntry[] = [
    { kind: 'action', label: m.conversations_rename(), icon: Pencil, onselect: rename }
  ];
  if (row.access !== 'owner') return entries;
  return [
    pinEntry(conversations, row),
    ...entries,
    {
      kind: 'action',
      label: m.conversations_move(),
      icon: FolderInput,
      onselect: () => (conversations.question = { kind: 'move', row })
    },
    ...(isListed ? [select] : []),
    { kind: 'line' },
    {
      kind: 'action',
      label: m.conversations_delete(),
      icon: Trash,
      tone: 'danger',
      onselect: () => (conversations.question = { kind: 'delete', rows: [row] })
    }
  ];
}

function pinEntry({ list }: Conversations, { id, pinned }: Row): MenuEntry {
  return {
    kind: 'action',
    label: pinned ? m.conversations_unpin() : m.conversations_pin(),
    icon: pinned ? PinOff : Pin,
    onselect: () => void list.change(id, { pinned: !pinned }).catch((error) => toasts.refuse(error))
  };
}
