import { AccountPage, newAddress } from './account_page.ts';
import { mailed } from './mails.ts';
import { expect, test, type Persona } from './persona.ts';

/** Invites somebody to a new team, and returns the page that the mail leads to. */
async function invite(person: Persona, email: string): Promise<string> {
  await person.call('POST', '/api/teams/me', { name: 'Lighthouse' });
  await person.call('POST', '/api/teams/me/invites', { email, role: 'member' });
  return mailed(email, '/invitations');
}

test('somebody new signs up, confirms the address, and joins', async ({ persona, browser }) => {
  const email = newAddress('bob');
  const link = await invite(await persona('alice', { plan: 'free' }), email);
  const context = await browser.newContext();
  const [page, mails] = [await context.newPage(), await context.newPage()];
  const account = new AccountPage(page);
  await page.goto(link);
  await expect(page.getByText('alice invites you to the team')).toBeVisible();
  await expect(page.getByText('Lighthouse')).toBeVisible();
  await page.getByRole('link', { name: 'Create an account and join' }).click();
  await expect(account.email).toHaveValue(email);
  await account.signUp(email);

  await expect(page).toHaveURL(link);
  await page.getByRole('button', { name: 'Join the team' }).click();
  await expect(account.problem).toContainText('Confirm your address first');
  await mails.goto(await mailed(email, '/verify-email'));
  await expect(mails.getByRole('heading', { name: 'Your address is confirmed' })).toBeVisible();
  await page.getByRole('button', { name: 'Join the team' }).click();
  await expect(page.getByText('You are in the team Lighthouse now.')).toBeVisible();
});

test('whoever is signed in as somebody else changes the account first', async ({
  persona,
  browser
}) => {
  const invited = newAddress('bob');
  const link = await invite(await persona('alice', { plan: 'free' }), invited);
  const page = await browser.newPage();
  await page.goto('/sign-in');
  await page.getByRole('button', { name: 'Sign in as the demo user' }).click();
  await expect(page).toHaveURL(/\/$/);

  await page.goto(link);
  await expect(page.getByText(`the invitation is for ${invited}`)).toBeVisible();
  await page.getByRole('button', { name: 'Sign in as somebody else' }).click();
  await expect(page).toHaveURL(`/sign-in?next=${encodeURIComponent(link)}`);
  await expect(new AccountPage(page).email).toHaveValue(invited);
});

test('an invitation is declined without an account, and is gone then', async ({
  persona,
  browser
}) => {
  const link = await invite(await persona('alice', { plan: 'free' }), newAddress('bob'));
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByRole('button', { name: 'Decline' }).click();
  await expect(page.getByText('You have declined the invitation.')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('alert')).toContainText('There is no such invitation');
});
