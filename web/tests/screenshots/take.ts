/**
 * Photographs the screens of the web app for the documents, as the demo user sees them: each light, dark
 * and on a phone. `SERVICE_URL=... node tests/screenshots/take.ts FOLDER`
 */
import { join } from 'node:path';
import { chromium, type BrowserContextOptions, type Page } from '@playwright/test';
import { findChromium } from '../chromium.ts';

interface Screen {
  name: string;
  path: string;
  /** Has something done that the picture shows. */
  prepare?: (page: Page) => Promise<void>;
  /** It is photographed before anybody has signed in. */
  isForAll?: boolean;
}

const LOOKS: Record<string, BrowserContextOptions> = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  phone: {
    viewport: { width: 390, height: 844 },
    colorScheme: 'light',
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2
  }
};

const TALK = 'Ten days along the coast of Norway';
const [folder = 'pictures'] = process.argv.slice(2);
const address = process.env.SERVICE_URL ?? 'http://127.0.0.1:8000';
// The page of a link that the picture before it has made.
let shared = '/';

const SCREENS: Screen[] = [
  { name: 'sign-in', path: '/sign-in', isForAll: true },
  { name: 'sign-up', path: '/sign-up', isForAll: true },
  { name: 'new-chat', path: '/' },
  { name: 'chat', path: '/', prepare: (page) => open(page, TALK) },
  { name: 'code', path: '/', prepare: (page) => open(page, 'Sum a column by month') },
  { name: 'versions', path: '/', prepare: (page) => open(page, 'Words for the web shop') },
  {
    name: 'picker',
    path: '/',
    prepare: async (page) => {
      await page.getByRole('button', { name: /^Model:/ }).click();
      await page.getByRole('option').first().waitFor();
    }
  },
  {
    name: 'models',
    path: '/models',
    prepare: (page) => page.getByRole('article').first().waitFor()
  },
  {
    name: 'search',
    path: '/',
    prepare: async (page) => {
      await unfold(page);
      await page.getByRole('textbox', { name: 'Search conversations' }).fill('ferry');
      await page.getByRole('region', { name: 'Conversations' }).locator('mark').first().waitFor();
    }
  },
  {
    name: 'palette',
    path: '/',
    prepare: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('option').first().waitFor();
    }
  },
  {
    name: 'share',
    path: '/',
    prepare: async (page) => {
      await open(page, TALK);
      await page.getByRole('button', { name: 'Share' }).click();
      const link = page.getByRole('textbox', { name: 'Link' });
      const make = page.getByRole('button', { name: 'Make a link' });
      await link.or(make).waitFor();
      if (await make.isVisible()) await make.click();
      shared = new URL(await link.inputValue()).pathname;
    }
  },
  { name: 'news', path: '/news', isForAll: true }
];

const browser = await chromium.launch({
  executablePath: findChromium(),
  args: ['--hide-scrollbars']
});
for (const [look, options] of Object.entries(LOOKS)) {
  const context = await browser.newContext({ ...options, locale: 'en-US' });
  const page = await context.newPage();
  for (const screen of SCREENS.filter(({ isForAll }) => isForAll)) await take(page, screen, look);
  await page.goto(`${address}/sign-in`);
  await page.getByRole('button', { name: 'Sign in as the demo user' }).click();
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
  for (const screen of SCREENS.filter(({ isForAll }) => !isForAll)) await take(page, screen, look);
  await take(page, { name: 'shared', path: shared }, look);
  await context.close();
}
await browser.close();

async function take(page: Page, { name, path, prepare }: Screen, look: string) {
  await page.goto(address + path);
  await page.waitForLoadState('networkidle');
  await prepare?.(page);
  // Until code is coloured and what moves has stopped.
  await page.waitForTimeout(800);
  await page.screenshot({ path: join(folder, `web-${name}-${look}.png`) });
  console.log(`web-${name}-${look}.png`);
}

async function open(page: Page, title: string) {
  await unfold(page);
  await page.getByRole('link', { name: title }).click();
  await page.getByRole('article').first().waitFor();
}

/** Shows the list, where it is a drawer. */
async function unfold(page: Page) {
  const menu = page.getByRole('button', { name: 'Open the menu' });
  if (await menu.isVisible()) await menu.click();
}
