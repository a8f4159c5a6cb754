import { m } from '#messages';

// The service has more rules (what is common, or like the address); these can be told before.
export const PASSWORD_LENGTH = 8;
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** What is wrong with the address of a new account, if anything is. */
export function addressProblem(address: string): string | undefined {
  if (!address.trim()) return m.account_email_missing();
  return ADDRESS.test(address.trim()) ? undefined : m.account_email_malformed();
}

/** What is wrong with a new password, if anything is. */
export function newPasswordProblem(password: string): string | undefined {
  if (!password) return m.account_password_missing();
  if ([...password].length < PASSWORD_LENGTH) {
    return m.account_password_short({ count: PASSWORD_LENGTH });
  }
  return /^\d+$/.test(password) ? m.account_password_numeric() : undefined;
}
