import { m } from '#messages';
import type { Section } from './rows.ts';

const NAMES = {
  pinned: m.conversations_pinned,
  today: m.conversations_today,
  yesterday: m.conversations_yesterday,
  week: m.conversations_week,
  older: m.conversations_older,
  found: m.conversations_found
};

export function sectionName(section: Section): string {
  return NAMES[section]();
}
