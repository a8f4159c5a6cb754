import type { Component } from 'svelte';
import Boxes from '@lucide/svelte/icons/boxes';
import Folder from '@lucide/svelte/icons/folder';
import Languages from '@lucide/svelte/icons/languages';
import LogOut from '@lucide/svelte/icons/log-out';
import MessageSquare from '@lucide/svelte/icons/message-square';
import Newspaper from '@lucide/svelte/icons/newspaper';
import SquarePen from '@lucide/svelte/icons/square-pen';
import SunMoon from '@lucide/svelte/icons/sun-moon';
import { goto } from '$app/navigation';
import { m } from '#messages';
import { getLocale, locales, setLocale } from '#runtime';
import { hasWords, wordsOf } from '#ui/words.ts';
import { signOut } from '#features/account/sign_out.ts';
import { signingOut } from '#features/account/signing_out.svelte.ts';
import type { Row } from '#features/conversations/rows.ts';
import type { Space } from '#features/conversations/spaces.svelte.ts';
import { LOCALE_NAMES } from '#features/frame/locales.ts';
import { PLACES } from '#features/frame/places.ts';
import { theme, THEMES } from '#features/frame/theme.svelte.ts';
import { themeName } from '#features/frame/theme_names.ts';
import type { Model } from '#features/models/models.svelte.ts';
import { vendorName } from '#features/models/vendors.ts';

/** Something that the palette reaches. */
export interface Item {
  /** Unlike all others. */
  id: string;
  label: string;
  /** More about it, which is searched as well. */
  detail?: string;
  icon: Component<{ size?: number }>;
  choose: () => void;
}

export interface Section {
  heading: string;
  items: Item[];
}

/** Those whose label or detail has all words of the query. */
export function matching(items: Item[], query: string): Item[] {
  const words = wordsOf(query);
  return items.filter(({ label, detail }) => hasWords(`${label} ${detail ?? ''}`, words));
}

export function actionItems(): Item[] {
  const themes = THEMES.filter((each) => each !== theme.current);
  const languages = locales.filter((each) => each !== getLocale());
  return [
    { id: 'new', label: m.conversations_new(), icon: SquarePen, choose: () => void goto('/') },
    ...themes.map((each) => ({
      id: `theme ${each}`,
      label: m.palette_theme({ theme: themeName(each) }),
      icon: SunMoon,
      choose: () => theme.choose(each)
    })),
    ...languages.map((each) => ({
      id: `language ${each}`,
      label: m.palette_language({ language: LOCALE_NAMES[each] }),
      icon: Languages,
      choose: () => void setLocale(each)
    })),
    { id: 'sign-out', label: m.sign_out(), icon: LogOut, choose: () => void signOut() },
    {
      id: 'sign-out-everywhere',
      label: m.sign_out_everywhere(),
      icon: LogOut,
      choose: () => (signingOut.isAsked = true)
    }
  ];
}

export function pageItems(): Item[] {
  const news = { href: '/news', label: m.content_news_title, icon: Newspaper };
  return [...PLACES, news].map(({ href, label, icon }) => ({
    id: href,
    label: label(),
    icon,
    choose: () => void goto(href)
  }));
}

export function spaceItems(spaces: readonly Space[], show: (id: string) => void): Item[] {
  return spaces.map(({ id, name }) => ({ id, label: name, icon: Folder, choose: () => show(id) }));
}

/** A chosen model begins a new conversation with it. */
export function modelItems(models: readonly Model[]): Item[] {
  return models.map(({ id, display_name, owned_by }) => ({
    id,
    label: display_name,
    detail: vendorName(owned_by),
    icon: Boxes,
    choose: () => void goto(`/?model=${encodeURIComponent(id)}`)
  }));
}

/** `spaceName` of the id of a space: the name to show. */
export function conversationItems(
  rows: readonly Row[],
  spaceName: (id: string | null) => string | undefined
): Item[] {
  return rows.map(({ id, title, match, space_id }) => ({
    id,
    label: title || m.conversations_untitled(),
    detail: match?.snippet ?? spaceName(space_id),
    icon: MessageSquare,
    choose: () => void goto(`/chat/${id}${match ? `?message=${match.message_id}` : ''}`)
  }));
}
