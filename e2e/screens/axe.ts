import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Rules of a whole page, which a popup with the page behind it does not have to keep. */
const OF_A_PAGE = ['landmark-one-main', 'page-has-heading-one', 'region'];

export type Theme = 'light' | 'dark';

/** What axe leaves out by itself, and has to look at: WCAG 2.2 AA wants targets of 24 px, or room around them. */
const BESIDE = ['target-size'];

function rulesOf({
  popup,
  loading,
}: {
  popup: boolean;
  loading: boolean;
}): Record<string, { enabled: boolean }> {
  // The title may be what is being read.
  const without = popup ? OF_A_PAGE : loading ? ['page-has-heading-one'] : [];
  return Object.fromEntries([
    ...BESIDE.map((rule) => [rule, { enabled: true }]),
    ...without.map((rule) => [rule, { enabled: false }]),
  ]);
}

/**
 * Puts the page in a theme and resolves to what axe finds there, a line for each violation. In the
 * dark theme only contrast is examined: the colors alone are others.
 */
export async function findViolations(
  page: Page,
  theme: Theme,
  { popup = false, loading = false }: { popup?: boolean; loading?: boolean } = {},
): Promise<string[]> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.locator(`html[data-theme=${theme}]`).waitFor();
  // What lies behind an open sheet or popup cannot be used, and is looked at without it.
  const axe = new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'], rules: rulesOf({ popup, loading }) })
    .exclude('[data-base-ui-inert]');
  if (theme === 'dark') axe.withRules(['color-contrast']);
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}
