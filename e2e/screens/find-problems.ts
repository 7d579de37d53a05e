import type { Page } from 'playwright-core';
import { vi } from 'vitest';
import { effort } from '../../server/src/testing/soak.ts';
import { findViolations, type Theme } from './axe.ts';

const WIDTHS = [390, 360, 768, 1280, 1440];
/** Those in which least fits: the phones, and a sidebar beside the page. */
const TIGHT_WIDTHS = effort({ usual: [390, 360, 768], soak: WIDTHS });
const PHONE = 390;
const EXCESS = 'document.documentElement.scrollWidth - innerWidth';
/** What reaches farthest to the right, and what it says. */
const WIDEST = `(() => {
  const ends = [...document.body.querySelectorAll('*')].map((element) => [element, element.getBoundingClientRect().right]);
  const [element] = ends.reduce((widest, next) => (next[1] > widest[1] ? next : widest));
  return '<' + element.tagName.toLowerCase() + '> ' + (element.textContent ?? '').slice(0, 60);
})()`;
/** After that a page that is wider than the window stays so. */
const FITS_MS = 60_000;
const DESKTOP = 1440;

type Kind = {
  /** It hangs on something that a phone does not have, and goes when the window is made narrow. */
  popup?: boolean;
  loading?: boolean | undefined;
  /** Another screen of its kind, or the same one with something on it, is looked at on a desktop and in the dark. */
  alike?: boolean | undefined;
};

/** What axe finds on a light phone, and on a desktop in both themes, and the widths over whose edge something reaches. */
export async function findProblems(
  page: Page,
  name: string,
  { popup = false, loading = false, alike = false }: Kind = {},
): Promise<string[]> {
  const problems: string[] = [];
  for (const width of alike ? TIGHT_WIDTHS : WIDTHS) {
    if (popup && width < DESKTOP) continue;
    await page.setViewportSize({ width, height: 900 });
    // What is as wide as the window is drawn anew, and a sheet may still be sliding in.
    const excessOf = () => page.evaluate<number>(EXCESS);
    await vi.waitUntil(async () => (await excessOf()) <= 0, { timeout: FITS_MS }).catch(() => undefined);
    const excess = await excessOf();
    if (excess > 0)
      problems.push(
        `${name}: ${excess} pixels wider than ${width}, by ${await page.evaluate<string>(WIDEST)}`,
      );
    if (width !== PHONE && (width !== DESKTOP || alike)) continue;
    const themes: Theme[] = loading || width === PHONE ? ['light'] : ['light', 'dark'];
    for (const theme of themes) {
      // Colors are the same at all widths, and what stands for text that is coming has none to examine.
      const colors = (width === DESKTOP || alike) && !loading;
      const found = await findViolations(page, theme, { popup, loading, colors });
      problems.push(...found.map((violation) => `${name} at ${width}, ${theme}: ${violation}`));
    }
  }
  return problems;
}
