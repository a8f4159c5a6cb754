/**
 * What a page with a long conversation costs: how long it takes until it is painted, and what a token of a
 * reply takes of the main thread. Prints the medians of five, and fails above the budgets.
 * `node tests/performance/chat_cost.ts BUILD`
 */
import { chromium, type CDPSession, type Page } from '@playwright/test';
import { findChromium } from '../chromium.ts';
import { prose, startService } from './service.ts';

const TOKEN_BUDGET_MS = 8;
const PAINT_BUDGET_MS = 1000;
const TIMES = 5;
const TOKENS = 150;
const PAUSE_MS = 20;
const MESSAGES = 1000;

const [build = 'build'] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: findChromium(),
  args: ['--no-sandbox']
});
const isOver: boolean[] = [];
for (const isWhole of [false, true]) {
  const costs = await measured(() => costOfToken(isWhole));
  const median = medianOf(costs);
  const shown = isWhole
    ? `all ${MESSAGES} messages in the page`
    : `${MESSAGES} messages, the newest in the page`;
  console.log(
    `${median.toFixed(2)} ms a token (${shown}; of ${costs.map((cost) => cost.toFixed(2)).join(', ')})`
  );
  isOver.push(median > TOKEN_BUDGET_MS);
}
const waits = await measured(paintedAfter);
console.log(
  `${medianOf(waits).toFixed(0)} ms until ${MESSAGES} messages are painted (of ${waits.map((wait) => wait.toFixed(0)).join(', ')})`
);
isOver.push(medianOf(waits) > PAINT_BUDGET_MS);
await browser.close();
if (isOver.includes(true)) {
  console.error(`The budgets are ${TOKEN_BUDGET_MS} ms a token, and ${PAINT_BUDGET_MS} ms.`);
  process.exitCode = 1;
}

async function measured(measure: () => Promise<number>): Promise<number[]> {
  const found: number[] = [];
  for (let time = 0; time < TIMES; time++) found.push(await measure());
  return found;
}

function medianOf(numbers: number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)]!;
}

/** From the navigation to the frame that shows messages, with the files in the browser's cache. */
async function paintedAfter(): Promise<number> {
  const service = await startService({ build, messages: MESSAGES, words: [], pauseMs: 0 });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en' });
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector('article')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => performance.mark('painted')));
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  const isPainted = () => performance.getEntriesByName('painted')[0]?.startTime;
  await page.goto(service.address);
  await page.waitForFunction(isPainted);
  await page.reload();
  const painted = await (await page.waitForFunction(isPainted)).jsonValue();
  await page.close();
  service.close();
  return painted!;
}

async function costOfToken(isWhole: boolean): Promise<number> {
  const service = await startService({
    build,
    messages: MESSAGES,
    words: prose(TOKENS),
    pauseMs: PAUSE_MS
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en' });
  await page.goto(service.address);
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  await message.waitFor();
  if (isWhole) await showAll(page);
  // What is done in passing, such as colouring code, is done.
  await page.waitForTimeout(1500);
  const devtools = await page.context().newCDPSession(page);
  // Of the thread alone: what else the machine does is not counted.
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  await message.fill('Go on.');
  const before = await taskSeconds(devtools);
  await page.keyboard.press('Enter');
  // Nobody asks the page for anything meanwhile: that would be counted.
  await page.waitForTimeout(TOKENS * PAUSE_MS + 4000);
  const after = await taskSeconds(devtools);
  await page.locator('article').last().getByText('from your plan').waitFor();
  await page.close();
  service.close();
  return ((after - before) * 1000) / TOKENS;
}

async function showAll(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const box = document.querySelector('[aria-label="Messages"]')!;
    while (box.querySelector('.older')) {
      box.scrollTop = 0;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    box.scrollTop = box.scrollHeight;
  });
}

async function taskSeconds(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}
