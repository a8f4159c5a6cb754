import { m } from '#messages';
import type { MenuEntry } from '#ui/menu.ts';
import { models } from './models.svelte.ts';
import { order } from './order.svelte.ts';
import { paymentWords } from './words.ts';

/** The models that can be called now, but one, with what the user pays: the entries of a menu. */
export function modelEntries(but: string | null, onchoose: (id: string) => void): MenuEntry[] {
  const others = models.chat.filter(({ id, callable }) => callable && id !== models.find(but)?.id);
  if (!others.length) return [{ kind: 'text', text: m.models_no_other() }];
  return order.of(others).map((model) => ({
    kind: 'action',
    label: model.display_name,
    detail: paymentWords(model),
    onselect: () => onchoose(model.id)
  }));
}
