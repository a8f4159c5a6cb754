import type { Component } from 'svelte';

type Icon = Component<{ size?: number }>;

/** What a menu offers, from its top to its end. */
export type MenuEntry =
  | {
      kind: 'action';
      label: string;
      detail?: string;
      icon?: Icon;
      tone?: 'danger';
      onselect: () => void;
    }
  | { kind: 'link'; label: string; icon?: Icon; href: string }
  /** One of several; the menu stays open. */
  | {
      kind: 'choice';
      label: string;
      value: string;
      options: readonly { value: string; label: string }[];
      onchange: (value: string) => void;
    }
  | { kind: 'text'; text: string; detail?: string }
  | { kind: 'line' };
