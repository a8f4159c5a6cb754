import type { Page } from '@playwright/test';
import { PASSWORD } from './persona.ts';

/** An address that nobody has an account with. */
export const newAddress = (name: string) => `${name}-${crypto.randomUUID()}@example.com`;

/** The button in the sidebar that says who is signed in. */
export const accountButton = (page: Page, name: string) =>
  page.getByRole('button', { name: new RegExp(`^${name} `) });

/** The forms of the pages for accounts. */
export class AccountPage {
  constructor(readonly page: Page) {}

  get email() {
    return this.page.getByRole('textbox', { name: 'E-mail address' });
  }

  get password() {
    return this.page.getByRole('textbox', { name: /^(New p|P)assword$/ });
  }

  get problem() {
    return this.page.getByRole('alert');
  }

  /** Signs in, from wherever the page for it was opened. */
  async signIn(email: string, password = PASSWORD) {
    await this.submit('Sign in', email, password);
  }

  async signUp(email: string, password = PASSWORD) {
    await this.submit('Create account', email, password);
  }

  /** The pages' fields have the same names: their button says whose fields are shown. */
  private async submit(action: string, email: string, password: string) {
    const button = this.page.getByRole('button', { name: action, exact: true });
    await button.waitFor();
    await this.email.fill(email);
    await this.password.fill(password);
    await button.click();
  }
}
