import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineConfig } from '@playwright/test';

/** The browser that the system has: none is downloaded. */
function chromium(): string | undefined {
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: process.env.TEST_RESULTS ?? 'test-results',
  // A machine that is busy takes many times as long as an idle one.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  workers: 2,
  fullyParallel: true,
  reporter: 'list',
  use: {
    baseURL: process.env.SERVICE_URL ?? 'http://127.0.0.1:8000',
    actionTimeout: 20_000,
    locale: 'en-US',
    launchOptions: {
      executablePath: chromium(),
      // A microphone that beeps, and that pages may use without asking.
      args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
    },
    screenshot: 'only-on-failure'
  }
});
