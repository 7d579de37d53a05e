import { readFile } from 'node:fs/promises';
import type { AxeResults, ElementContext, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

/** Source of axe. Minified, because each page has to parse it. */
const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Rules for whole pages, which must not be applied to a popup over a page. */
const OF_A_PAGE = ['landmark-one-main', 'page-has-heading-one', 'region'];

/** Excludes what is behind an open sheet or popup and cannot be used. */
const CONTEXT: ElementContext = { exclude: ['[data-base-ui-inert]'] };

/** Runs in the page, where it can check more often than a locator. */
const UNTIL_THEME = `(theme) => new Promise((resolve) => {
  const look = () => document.documentElement.dataset.theme === theme ? resolve() : setTimeout(look, 10);
  look();
})`;

/** Runs in the page. Returns only the parts of the result that are used, because the result is large. */
const RUN = `async ([context, options]) => {
  const { violations } = await axe.run(context, options);
  return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) }));
}`;

export type Theme = 'light' | 'dark';

type Kind = {
  popup?: boolean;
  loading?: boolean;
  /** Rules that check contrast. */
  colors?: boolean;
};

/**
 * Sets the theme and returns the axe violations, one line each. In the dark theme, checks only contrast,
 * because only colours differ.
 */
export async function findViolations(
  page: Page,
  theme: Theme,
  { popup = false, loading = false, colors = true }: Kind = {},
): Promise<string[]> {
  await page.emulateMedia({ colorScheme: theme });
  await page.evaluate(`(${UNTIL_THEME})('${theme}')`);
  // Wait for the title, which may still be loading.
  const unfit = popup ? [...OF_A_PAGE] : loading ? ['page-has-heading-one'] : [];
  if (!colors) unfit.push('color-contrast');
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(theme === 'dark'
      ? { runOnly: ['color-contrast'] }
      : { rules: Object.fromEntries(unfit.map((rule) => [rule, { enabled: false }])) }),
  };
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe);
  const violations = await page.evaluate<AxeResults['violations']>(
    `(${RUN})(${JSON.stringify([CONTEXT, options])})`,
  );
  return violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}
