import type { Page } from 'playwright-core';
import { vi } from 'vitest';
import { findViolations, type Theme } from './axe.ts';

const WIDTHS = [390, 360, 768, 1280, 1440];
/** Width of a phone in pixels. */
export const PHONE = 390;
const EXCESS = 'document.documentElement.scrollWidth - innerWidth';
/** Returns the element that extends farthest to the right, with its text. */
const WIDEST = `(() => {
  const ends = [...document.body.querySelectorAll('*')].map((element) => [element, element.getBoundingClientRect().right]);
  const [element] = ends.reduce((widest, next) => (next[1] > widest[1] ? next : widest));
  return '<' + element.tagName.toLowerCase() + '> ' + (element.textContent ?? '').slice(0, 60);
})()`;
/** An overflow that lasts this long counts as permanent. */
const FITS_MS = 60_000;
const DESKTOP = 1440;

type Kind = {
  /** Set for a popup of an element that phones hide. It closes when the window gets narrow. */
  popup?: boolean;
  loading?: boolean | undefined;
  /** Runs axe only on phones, because another screen of this kind is checked on a desktop too. */
  alike?: boolean | undefined;
};

/**
 * Returns axe violations and the widths with horizontal overflow. Checks a phone in the light theme, and a
 * desktop in both.
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
      // Colours do not depend on the width, and skeletons contain no text to check.
      const colors = (width === DESKTOP || alike) && !loading;
      const found = await findViolations(page, theme, { popup, loading, colors });
      problems.push(...found.map((violation) => `${name} at ${width}, ${theme}: ${violation}`));
    }
  }
  return problems;
}

/** Returns a line if the page is wider than the window. */
export async function findOverflow(page: Page, name: string, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  // Wait, because elements with the full width are drawn again, and a sheet may still be moving.
  const excessOf = () => page.evaluate<number>(EXCESS);
  await vi.waitUntil(async () => (await excessOf()) <= 0, { timeout: FITS_MS }).catch(() => undefined);
  const excess = await excessOf();
  if (excess <= 0) return [];
  return [`${name}: ${excess} pixels wider than ${width}, by ${await page.evaluate<string>(WIDEST)}`];
}
