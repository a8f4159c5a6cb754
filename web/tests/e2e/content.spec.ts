import { expect, test } from './persona.ts';

const banner = {
  id: '01a227b1-20aa-7450-8cd9-378227b1136c',
  kind: 'banner',
  slug: 'maintenance',
  locale: 'en',
  title: 'Maintenance',
  html: '<p>On Sunday we are away for <strong>ten minutes</strong>.</p>',
  severity: 'warning',
  link: { url: '/news', text: 'More' },
  published_at: '2026-11-28T08:00:00Z',
  ends_at: null as string | null,
  updated_at: '2026-11-28T08:00:00Z'
};

test('a banner is shown on every page until somebody hides it, and again when it is changed', async ({
  page
}) => {
  let shown = banner;
  await page.route('**/api/cms?kind=banner*', (route) => route.fulfill({ json: [shown] }));
  const announcements = page.getByRole('region', { name: 'Announcements' });
  await page.goto('/sign-in');
  await expect(announcements).toContainText('On Sunday we are away for ten minutes.');
  await announcements.getByRole('link', { name: 'More' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'News' })).toBeVisible();
  await announcements.getByRole('button', { name: 'Hide this: Maintenance' }).click();
  await expect(announcements).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'News' })).toBeVisible();
  await expect(announcements).toHaveCount(0);

  shown = { ...banner, updated_at: '2026-11-29T08:00:00Z' };
  await page.reload();
  await expect(announcements).toBeVisible();
});

test('a banner goes at its end', async ({ page }) => {
  await page.clock.install();
  const ends_at = new Date(Date.now() + 3_600_000).toISOString();
  await page.route('**/api/cms?kind=banner*', (route) =>
    route.fulfill({ json: [{ ...banner, ends_at }] })
  );
  await page.goto('/sign-in');
  await expect(page.getByRole('region', { name: 'Announcements' })).toBeVisible();
  await page.clock.runFor(3_600_000);
  await expect(page.getByRole('region', { name: 'Announcements' })).toHaveCount(0);
});

test('pages of operators are there for everybody, in their language', async ({ page, browser }) => {
  await page.goto('/pages/about');
  await expect(page.getByRole('heading', { level: 1, name: 'About us' })).toBeVisible();
  await expect(page).toHaveTitle(/^About us/);
  await expect(page.getByRole('table')).toBeVisible();

  const german = await (await browser.newContext({ locale: 'de-DE' })).newPage();
  await german.goto('/pages/about');
  await expect(german.getByRole('heading', { level: 1, name: 'Über uns' })).toBeVisible();
  // What was not translated says what it is.
  await german.goto('/pages/privacy');
  await expect(german.getByRole('article')).toHaveAttribute('lang', 'en');
});

test('news are listed', async ({ page }) => {
  await page.goto('/news');
  await expect(page.getByRole('article')).not.toHaveCount(0);
  await expect(page.getByRole('heading', { level: 2, name: /^Studios/ })).toBeVisible();
});

for (const path of ['/nowhere', '/pages/nothing', '/pages/no.name']) {
  test(`${path} is no page, and leads on`, async ({ page }) => {
    await page.goto(path);
    await expect(page.getByRole('heading', { name: 'There is no such page' })).toBeVisible();
    await page.getByRole('link', { name: 'To the start page' }).click();
    await expect(page).toHaveURL(/\/sign-in$/);
  });
}

test('a page that cannot be loaded says why, and can be tried again', async ({ page }) => {
  const body = { detail: 'The service is away.', code: 'service_unavailable' };
  const headers = { 'X-Request-Id': 'req_1' };
  await page.route('**/api/cms?kind=page*', (route) =>
    route.fulfill({ status: 503, headers, json: body })
  );
  await page.goto('/pages/about');
  await expect(page.getByText('The service is away.')).toBeVisible();
  await expect(page.getByText('req_1')).toBeVisible();
  await page.unroute('**/api/cms?kind=page*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'About us' })).toBeVisible();
});
