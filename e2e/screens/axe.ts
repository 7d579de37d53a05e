import { readFile } from 'node:fs/promises';
import type { AxeResults, ElementContext, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

/** Half as long as the one that the module has: each page reads it anew. */
const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Rules of a whole page, which a popup with the page behind it does not have to keep. */
const OF_A_PAGE = ['landmark-one-main', 'page-has-heading-one', 'region'];

/** What lies behind an open sheet or popup cannot be used, and is looked at without it. */
const CONTEXT: ElementContext = { exclude: ['[data-base-ui-inert]'] };

/** Runs in the page, and looks more often than a locator would. */
const UNTIL_THEME = `(theme) => new Promise((resolve) => {
  const look = () => document.documentElement.dataset.theme === theme ? resolve() : setTimeout(look, 10);
  look();
})`;

/** Runs in the page. Of what is found only as much comes out of it as is read. */
const RUN = `async ([context, options]) => {
  const { violations } = await axe.run(context, options);
  return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) }));
}`;

export type Theme = 'light' | 'dark';

type Kind = {
  popup?: boolean;
  loading?: boolean;
  /** Whether their contrast is examined. */
  colors?: boolean;
};

/**
 * Puts the page in a theme and resolves to what axe finds there, a line for each violation. In the
 * dark theme only contrast is examined: the colors alone are others.
 */
export async function findViolations(
  page: Page,
  theme: Theme,
  { popup = false, loading = false, colors = true }: Kind = {},
): Promise<string[]> {
  await page.emulateMedia({ colorScheme: theme });
  await page.evaluate(`(${UNTIL_THEME})('${theme}')`);
  // The title may be what is being read.
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
