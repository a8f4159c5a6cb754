import type { Component } from 'svelte';
import Boxes from '@lucide/svelte/icons/boxes';
import { m } from '#messages';

interface Place {
  href: string;
  label: () => string;
  icon: Component<{ size?: number }>;
}

/** The pages of the app, as the sidebar and the palette lead to them. */
export const PLACES: readonly Place[] = [{ href: '/models', label: m.models_page, icon: Boxes }];
