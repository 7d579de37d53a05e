import type { Page } from 'playwright-core';
import { vi } from 'vitest';
import { findViolations, type Theme } from './axe.ts';

const WIDTHS = [390, 360, 768, 1280, 1440];
/** Width of a phone in pixels. */
export const PHONE = 390;
const EXCESS = 'document.documentElement.scrollWidth - innerWidth';
/** Returns the element that extends farthest right, with its text. */
const WIDEST = `(() => {
  const ends = [...document.body.querySelectorAll('*')].map((element) => [element, element.getBoundingClientRect().right]);
  const [element] = ends.reduce((widest, next) => (next[1] > widest[1] ? next : widest));
  return '<' + element.tagName.toLowerCase() + '> ' + (element.textContent ?? '').slice(0, 60);
})()`;
/** After this, the overflow counts as permanent. */
const FITS_MS = 60_000;
const DESKTOP = 1440;

type Kind = {
  /** A popup of an element that phones hide; closes when the window is narrowed. */
  popup?: boolean;
  loading?: boolean | undefined;
  /** Runs axe on phones only: another screen of this kind is checked on a desktop too. */
  alike?: boolean | undefined;
};

/**
 * Returns axe violations on a light phone and on a desktop in both themes, and widths with horizontal
 * overflow.
 */
export async function findProblems(
  page: Page,
  name: string,
  { popup = false, loading = false, alike = false }: Kind = {},
): Promise<string[]> {
  const problems: string[] = [];
  for (const width of WIDTHS) {
    if (popup && width < DESKTOP) continue;
    problems.push(...(await findOverflow(page, name, width)));
    if (width !== PHONE && (width !== DESKTOP || alike)) continue;
    const themes: Theme[] = loading || width === PHONE ? ['light'] : ['light', 'dark'];
    for (const theme of themes) {
      // Colours don't depend on the width, and skeletons have no text to check.
      const colors = (width === DESKTOP || alike) && !loading;
      const found = await findViolations(page, theme, { popup, loading, colors });
      problems.push(...found.map((violation) => `${name} at ${width}, ${theme}: ${violation}`));
    }
  }
  return problems;
}

/** Returns a line if the page is wider than this window. */
export async function findOverflow(page: Page, name: string, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  // Full-width elements redraw, and a sheet may still be sliding in.
  const excessOf = () => page.evaluate<number>(EXCESS);
  await vi.waitUntil(async () => (await excessOf()) <= 0, { timeout: FITS_MS }).catch(() => undefined);
  const excess = await excessOf();
  if (excess <= 0) return [];
  return [`${name}: ${excess} pixels wider than ${width}, by ${await page.evaluate<string>(WIDEST)}`];
}
