import { m } from '#messages';
import type { Message } from '../state/entry.svelte.ts';

const SENTENCES: Record<string, (model: { model: string }) => string> = {
  content_blocked: m.chat_failed_blocked,
  input_too_long: m.chat_failed_too_long,
  interrupted: m.chat_failed_interrupted,
  no_text: m.chat_failed_no_text,
  provider_unavailable: m.chat_failed_unavailable,
  rate_limit_exceeded: m.chat_failed_too_often,
  service_unavailable: m.chat_failed_interrupted,
  upstream_error: m.chat_failed_provider
};

/** Why a reply has failed, and what can be done; the service's own words for what is rare. */
export function failure(error: Message['error'], model: string): string {
  return SENTENCES[error?.code ?? '']?.({ model }) ?? error?.message ?? m.chat_failed();
}
