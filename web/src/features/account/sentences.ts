import { m } from '#messages';
import { getLocale } from '#runtime';
import type { Refusal } from '#api/refusal.ts';
import type { Ending } from '#api/session.svelte.ts';

const SENTENCES: Record<string, () => string> = {
  account_disabled: m.account_suspended,
  address_not_verified: m.account_address_not_verified,
  already_in_team: m.account_already_in_team,
  email_taken: m.account_email_taken,
  id_token_used: m.account_google_failed,
  identity_provider_off: m.account_google_off,
  identity_provider_unavailable: m.account_google_unavailable,
  identity_taken: m.account_google_taken,
  identity_unverified: m.account_google_unverified,
  invalid_credentials: m.account_wrong_credentials,
  invalid_emailed_token: m.account_link_dead,
  invalid_id_token: m.account_google_failed,
  invitation_for_other_address: m.account_invitation_for_other,
  invitation_not_found: m.account_invitation_dead,
  rate_limit_exceeded: m.account_too_fast,
  service_unavailable: m.account_unavailable,
  sign_up_closed: m.account_sign_up_closed,
  team_full: m.account_team_full,
  too_many_attempts: m.account_too_many_attempts,
  too_many_emails: m.account_too_many_emails,
  too_many_signups: m.account_too_many_sign_ups,
  unreachable: m.unreachable
};

const ENDINGS: Record<NonNullable<Ending>, () => string> = {
  account_disabled: m.account_suspended,
  password_reset: m.account_password_reset,
  session_ended: m.account_session_ended,
  signed_out: m.account_signed_out
};

/** What is said of a refusal, in the language of the page; the service's own words for what is rare. */
export function sentenceOf(refusal: Refusal): string {
  return SENTENCES[refusal.code]?.() ?? refusal.message;
}

/** Why nobody is signed in any more. */
export function endingSentence(ending: NonNullable<Ending>): string {
  return ENDINGS[ending]();
}

/** What is said at a field. The service says it in English, and more precisely. */
export function fieldSentence(field: string, said: string): string {
  if (getLocale() === 'en') return said;
  if (field === 'email') return m.account_email_malformed();
  return field === 'password' ? m.account_password_weak() : said;
}
