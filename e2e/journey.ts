import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, expect, inject, test } from 'vitest';
import { effort } from '../server/src/testing/soak.ts';
import { journeyServer } from './journey-server.ts';
import { findViolations, type Theme } from './screens/axe.ts';
import { screenshotPath } from './screenshots.ts';

/** How long a page may take to show a state, and work on the machine to end: after that something hangs. Nothing is true or false by its speed. */
const PAGE_MS = 5 * 60_000;
export const WORK_MS = 10 * 60_000;

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

/** No Safari of 2026 iterates a stream: what does so here fails there. */
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
  /** A page of a new visitor, who shares no cookies with others; of another server where `baseURL` names one. */
  openPage: (baseURL?: string) => Promise<Page>;
  page: Page;
  /** Expects messages like this one from now on: a refusal by the server is one in the browser's log too. */
  allowErrors: (pattern: RegExp) => void;
};

/**
 * A test in a real browser. It fails on any error that a page throws or logs, and leaves a picture
 * of every open page when it fails.
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
      // What is on its way is no target for a click, and what moves for ever is drawn sixty times a second.
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

/**
 * Checks one state of a screen: no axe violation on a desktop, and nothing wider than the window on a desktop or a phone.
 * The gate runs axe on dialogs and sheets in the light theme. The soak tier runs it on pages too, and on dialogs in both
 * themes. With `JOURNEY_SCREENSHOTS` it also saves pictures of both widths in both themes. Afterwards the page has the
 * desktop's size and the light theme again. A `popup` belongs to an element that phones do not have.
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
    // What is as wide as the window, as a chart, is drawn anew.
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
  // A sheet or dialog is as high as the window; behind it nothing scrolls.
  const fullPage = (await page.getByRole('dialog').count()) === 0;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    await page.screenshot({ path: screenshotPath(`${name}-${colorScheme}`), fullPage });
  }
}
