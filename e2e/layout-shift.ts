import type { BrowserContext, Page } from 'playwright-core';

/** What a page may move while it fills in, as browsers count it. */
export const LAYOUT_SHIFT_MAX = 0.02;

/** Milliseconds in which nothing may be loading any more before a page counts as settled. */
const SETTLED_MS = 400;

/**
 * Runs in the page, before anything of its own. What a page holds until its reads are answered it shows after three seconds in
 * any case (web/src/lib/use-first-answers.ts), and fills in later: on a busy machine that would be measured, too.
 */
const PATIENCE = `
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (work, ms, ...args) => setTimeout(work, ms === 3_000 ? 60_000 : ms, ...args);
`;

type Shift = {
  value: number;
  /** What moved, each with its share. */
  moved: string[];
};

/** Runs in the page, before anything of its own. */
const observer = `
  globalThis.layoutShift = { value: 0, moved: [] };
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      globalThis.layoutShift.value += value;
      for (const { node } of sources) {
        const element = node?.outerHTML ? node : node?.parentElement;
        globalThis.layoutShift.moved.push(value.toFixed(4) + ' ' + element?.outerHTML.slice(0, 120));
      }
    }
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** From now on every page of the context adds up what moves without anybody having touched it. */
export async function watchLayoutShift(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: `{ ${PATIENCE} ${observer} }` });
}

/** Opens the address as a newcomer would, and resolves to what moved until everything on it was there. */
export async function openAndMeasure(page: Page, path: string): Promise<Shift> {
  await page.goto(path);
  await page.locator('h1').first().waitFor();
  const loading = page.locator('[role=status][aria-label^=Loading]').first();
  const allThere = () => loading.waitFor({ state: 'detached' });
  await allThere();
  await page.waitForTimeout(SETTLED_MS);
  await allThere();
  return page.evaluate<Shift>('globalThis.layoutShift');
}
