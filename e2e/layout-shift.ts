import type { BrowserContext, Page } from 'playwright-core';

/** Maximum sum of the layout shifts while a page loads. */
export const LAYOUT_SHIFT_MAX = 0.02;

/** A page that has loaded nothing for this many milliseconds counts as settled. */
const SETTLED_MS = 400;

/**
 * Injected into the page. Extends the three-second limit after which pages show partial data
 * (`waitForReads` in web/src), because on a busy machine that would be measured too.
 */
const PATIENCE = `
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (work, ms, ...args) => setTimeout(work, ms === 3_000 ? 60_000 : ms, ...args);
`;

type Shift = {
  value: number;
  /** The layout shifts with their scores. */
  moved: string[];
};

/** Runs in the page and records layout shifts. */
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

/** Records layout shifts that no user input caused, on every page of the context. */
export async function watchLayoutShift(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: `{ ${PATIENCE} ${observer} }` });
}

/** Opens the URL in a new page. Returns the layout shift until everything has loaded. */
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
