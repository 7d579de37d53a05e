import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, expect, inject, test } from 'vitest';
import { effort, isSoak } from '../server/src/testing/soak.ts';
import { journeyServer } from './journey-server.ts';
import { findViolations, type Theme } from './screens/axe.ts';
import { screenshotPath } from './screenshots.ts';

/**
 * Limits for a state of a page, and for work on the machine. They are generous, because they only detect
 * hangs: the tests do not measure speed.
 */
const PAGE_MS = 5 * 60_000;
export const WORK_MS = 10 * 60_000;

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

/** Makes iterating a stream fail, because Safari (2026) cannot do it. */
const SAFARI =
  'delete ReadableStream.prototype[Symbol.asyncIterator]; delete ReadableStream.prototype.values;';

let browser: Promise<Browser> | null = null;
afterAll(async () => (await browser)?.close());

function connect(): Promise<Browser> {
  browser ??= chromium.connect(inject('browserUrl'));
  return browser;
}

type Fixtures = {
  allowed: RegExp[];
  /** Opens a page for another visitor, with separate cookies. With `baseURL`, opens it on another server. */
  openPage: (baseURL?: string) => Promise<Page>;
  page: Page;
  /** From now on, permits console errors that match, including responses with an error status. */
  allowErrors: (pattern: RegExp) => void;
};

/**
 * A test in a real browser. Fails if a page throws or logs an error. If it fails, saves a screenshot of every
 * open page.
 */
export const journey = test.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs from the pattern
  allowed: async ({}, use) => use([]),
  allowErrors: async ({ allowed }, use) => use((pattern) => void allowed.push(pattern)),
  openPage: async ({ allowed, task, onTestFinished }, use) => {
    const contexts: BrowserContext[] = [];
    const errors: string[] = [];
    onTestFinished(async () => {
      const pages = contexts.flatMap((context) => context.pages());
      if (task.result?.state === 'fail') {
        for (const [number, page] of pages.entries()) {
          await page.screenshot({ path: screenshotPath(`failed-${task.name}-${number}`) });
        }
      }
      for (const page of pages) await page.unrouteAll({ behavior: 'ignoreErrors' });
      for (const context of contexts) await context.close();
      const unexpected = errors.filter((error) => !allowed.some((pattern) => pattern.test(error)));
      expect(unexpected, 'errors in the browser').toEqual([]);
    });
    await use(async (baseURL = journeyServer().url) => {
      // Elements that move cannot be clicked, and endless animations use CPU time.
      const motion = { reducedMotion: 'reduce' } as const;
      const context = await (await connect()).newContext({ baseURL, viewport: DESKTOP, ...motion });
      contexts.push(context);
      await context.addInitScript({ content: SAFARI });
      context.on('weberror', (error) => errors.push(error.error().message));
      context.on('console', (message) => {
        if (message.type() === 'error') errors.push(`${message.text()} (${message.location().url})`);
      });
      context.setDefaultTimeout(PAGE_MS);
      return context.newPage();
    });
  },
  page: async ({ openPage }, use) => use(await openPage()),
});

/** A journey of the soak tier. The gate covers its behavior with cheaper tests. */
export const soakJourney = journey.runIf(isSoak);

/**
 * Checks one state of a screen: no axe violations on a desktop, and no horizontal overflow on a desktop and a
 * phone. In the gate, runs axe only on dialogs and sheets in the light theme. The soak tier also runs it on
 * pages, and on dialogs in both themes. With `JOURNEY_SCREENSHOTS`, also saves screenshots in both sizes and
 * themes. Afterwards, the desktop size and the light theme are set again. Set `popup` for popups of elements
 * that phones hide.
 */
export async function look(page: Page, name: string, { popup = false } = {}): Promise<void> {
  const isOverPage = popup || (await page.getByRole('dialog').count()) > 0;
  const overPage = effort<Theme[]>({ usual: ['light'], soak: ['light', 'dark'] });
  const themes = isOverPage ? overPage : effort<Theme[]>({ usual: [], soak: ['light'] });
  for (const [width, viewport] of [
    ['1440', DESKTOP],
    ['390', PHONE],
  ] as const) {
    if (popup && viewport === PHONE) continue;
    await page.setViewportSize(viewport);
    for (const theme of viewport === DESKTOP ? themes : []) {
      const found = await findViolations(page, theme, { popup });
      expect(found, `axe on ${name} at ${width} px, ${theme}`).toEqual([]);
    }
    // Elements with the full width, such as charts, are drawn again after a change of size.
    await expect
      .poll(() => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), {
        message: `pixels that ${name} is wider than ${width} px`,
      })
      .toBeLessThanOrEqual(0);
    if (process.env.JOURNEY_SCREENSHOTS) await takeScreenshots(page, `${name}-${width}`);
  }
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: 'light' });
}

async function takeScreenshots(page: Page, name: string): Promise<void> {
  // Sheets and dialogs are as high as the window, and the page behind them does not scroll.
  const fullPage = (await page.getByRole('dialog').count()) === 0;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    await page.screenshot({ path: screenshotPath(`${name}-${colorScheme}`), fullPage });
  }
}
