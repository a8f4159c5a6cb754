import { defineConfig } from '@playwright/test';
import { findChromium } from './tests/chromium.ts';

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
      executablePath: findChromium(),
      // A microphone that beeps, and that pages may use without asking.
      args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
    },
    screenshot: 'only-on-failure'
  }
});
